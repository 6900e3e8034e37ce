// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

/// Where Foundation traps, or throws without saying where, the fetch throws and names the object.
@Suite("A predicate never traps") struct PredicateFailureTests {
    private let overflow = "overflow"
    private let zero = "divides by zero"

    @Test func sumOverflows() throws {
        try Reading.expectFailure(of: #Predicate { $0.value + 1 > 0 }, because: overflow) { $0.value = .max }
    }

    @Test func sumOfFieldsOverflows() throws {
        try Reading.expectFailure(of: #Predicate { $0.value + $0.other > 0 }, because: overflow) {
            ($0.value, $0.other) = (.min, -1)
        }
    }

    @Test func differenceOverflows() throws {
        try Reading.expectFailure(of: #Predicate { $0.value - 1 >= 0 }, because: overflow) { $0.value = .min }
    }

    @Test func unsignedDifferenceOverflows() throws {
        try Reading.expectFailure(of: #Predicate { $0.amount - 1 > 0 }, because: overflow) { $0.amount = 0 }
    }

    @Test func productOverflows() throws {
        try Reading.expectFailure(of: #Predicate { $0.value * 3 > 0 }, because: overflow) { $0.value = .max / 2 }
    }

    @Test func productOfSmallIntegersOverflows() throws {
        try Reading.expectFailure(of: #Predicate { $0.tiny * $0.tiny == 25 }, because: overflow) { $0.tiny = 12 }
    }

    @Test func negationOverflows() throws {
        try Reading.expectFailure(of: #Predicate { -$0.value < 0 }, because: overflow) { $0.value = .min }
    }

    @Test func divisionByZero() throws {
        try Reading.expectFailure(of: #Predicate { 100 / $0.value > 3 }, because: zero) { $0.value = 0 }
    }

    @Test func remainderByZero() throws {
        try Reading.expectFailure(of: #Predicate { 100 % $0.value > 3 }, because: zero) { $0.value = 0 }
    }

    @Test func quotientOverflows() throws {
        try Reading.expectFailure(of: #Predicate { $0.value / $0.other == 1 || $0.id >= 0 }, because: overflow) {
            ($0.value, $0.other) = (.min, -1)
        } others: {
            $0.other = 1
        }
    }

    /// A remainder by -1 is 0, though Swift's `%` traps on it.
    @Test func remainderOfTheLeastByMinusOneIsZero() throws {
        try Reading.expectRows(of: #Predicate { $0.value % -1 == 0 }, { _ in true }) { $0.value = .min }
    }

    @Test func divisionOfDoublesByZeroIsInfinite() throws {
        try Reading.expectRows(of: #Predicate { 1 / $0.factor > 1e300 }, { $0.factor == 0 }) { $0.factor = 0 }
    }

    @Test func forcedNil() throws {
        try Reading.expectFailure(of: #Predicate { $0.maybe! >= 3 }, because: "unwraps nil") { $0.maybe = nil }
    }

    @Test func indexBehindTheEnd() throws {
        try Reading.expectFailure(of: #Predicate { $0.list[2] == 8 }, because: "out of bounds") { $0.list = [1, 2] }
    }

    @Test func negativeIndex() throws {
        try Reading.expectFailure(of: #Predicate { $0.list[$0.tinyIndex] == 8 }, because: "out of bounds") {
            $0.tiny = -1
        } others: {
            $0.tiny = 1
        }
    }

    @Test func sliceBehindTheEnd() throws {
        try Reading.expectFailure(of: #Predicate { $0.list[1..<3].contains(8) }, because: "out of bounds") {
            $0.list = [1, 2]
        }
    }

    @Test func sliceOfAnInvertedRange() throws {
        try Reading.expectFailure(
            of: #Predicate { $0.list[$0.other..<$0.value].contains(8) }, because: "ends before it begins"
        ) {
            ($0.other, $0.value) = (2, 1)
        } others: {
            ($0.other, $0.value) = (0, 3)
        }
    }
}
