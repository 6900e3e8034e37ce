// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

/// A predicate fails exactly where Swift would reach the failing part, whatever plan is chosen.
@Suite("Short circuits are kept by every plan") struct ShortCircuitTests {
    private static func zero(_ reading: inout Reading) { reading.value = 0 }
    private let because = "divides by zero"

    @Test func aTestBeforeItProtects() throws {
        try Reading.expectRows(
            of: #Predicate { $0.value != 0 && 100 / $0.value > 10 }, { $0.value != 0 && 100 / $0.value > 10 }, Self.zero
        )
    }

    @Test func anIndexedTestBeforeItProtects() throws {
        try Reading.expectRows(
            of: #Predicate { $0.value == 4 && 100 / $0.value > 10 }, { $0.value == 4 }, Self.zero)
    }

    @Test func anIndexedTestBehindItDoesNotProtect() throws {
        try Reading.expectFailure(of: #Predicate { 100 / $0.value > 10 && $0.value == 4 }, because: because, Self.zero)
    }

    @Test func anIDBehindItDoesNotProtect() throws {
        try Reading.expectFailure(of: #Predicate { 100 / $0.value >= 0 && $0.id == 4 }, because: because, Self.zero)
    }

    @Test func anIDBeforeItProtects() throws {
        try Reading.expectRows(of: #Predicate { $0.id == 4 && 100 / $0.value >= 0 }, { $0.id == 4 }, Self.zero)
    }

    @Test func falseBehindItDoesNotProtect() throws {
        let no = false
        try Reading.expectFailure(of: #Predicate { 100 / $0.value >= 0 && no }, because: because, Self.zero)
    }

    @Test func falseBeforeItProtects() throws {
        let no = false
        try Reading.expectRows(of: #Predicate { no && 100 / $0.value >= 0 }, { _ in false }, Self.zero)
    }

    @Test func anEmptySetBehindItDoesNotProtect() throws {
        let none: Set<Int> = []
        try Reading.expectFailure(
            of: #Predicate { 100 / $0.value >= 0 && none.contains($0.id) }, because: because, Self.zero)
    }

    @Test func aContradictionBehindItDoesNotProtect() throws {
        try Reading.expectFailure(
            of: #Predicate { 100 / $0.value >= 0 && $0.other == 1 && $0.other == 2 }, because: because, Self.zero)
    }

    @Test func aContradictionBeforeItProtects() throws {
        try Reading.expectRows(
            of: #Predicate { $0.other == 1 && $0.other == 2 && 100 / $0.value >= 0 }, { _ in false }, Self.zero)
    }

    @Test func inTheMiddle() throws {
        try Reading.expectFailure(
            of: #Predicate { $0.other == 1 && 100 / $0.value >= 0 && $0.name == "reading 5" }, because: because,
            Self.zero)
    }

    @Test func inTheMiddleOfNestedConjunctions() throws {
        try Reading.expectFailure(
            of: #Predicate { $0.other == 1 && (100 / $0.value >= 0 && $0.name == "reading 5") }, because: because,
            Self.zero)
    }

    @Test func inTheMiddleAndProtected() throws {
        try Reading.expectRows(
            of: #Predicate { $0.other == 2 && 100 / $0.value >= 0 && $0.name == "reading 6" }, { $0.id == 6 }, Self.zero
        )
    }

    @Test func aTrueAlternativeBeforeItProtects() throws {
        try Reading.expectRows(of: #Predicate { $0.value == 0 || 100 / $0.value > 0 }, { _ in true }, Self.zero)
    }

    @Test func aTrueAlternativeBehindItDoesNotProtect() throws {
        try Reading.expectFailure(of: #Predicate { 100 / $0.value > 0 || $0.value == 0 }, because: because, Self.zero)
    }

    @Test func trueBehindItDoesNotProtect() throws {
        let yes = true
        try Reading.expectFailure(of: #Predicate { 100 / $0.value > 0 || yes }, because: because, Self.zero)
    }

    @Test func anAlternativeInAConjunction() throws {
        try Reading.expectFailure(
            of: #Predicate { ($0.other == 1 || 100 / $0.other > 0) && $0.name == "reading 5" }, because: because
        ) {
            $0.other = 0
        } others: {
            $0.other = 1
        }
    }

    @Test func equalitiesAroundIt() throws {
        try Reading.expectRows(
            of: #Predicate { $0.value == 0 || 100 / $0.value == 25 || $0.value == 7 },
            { [0, 4, 7].contains($0.value) },
            Self.zero)
    }

    @Test func theBranchNotTaken() throws {
        try Reading.expectRows(
            of: #Predicate { $0.value == 0 ? false : 100 / $0.value == 25 }, { $0.value == 4 }, Self.zero)
    }

    @Test func theDefaultNotNeeded() throws {
        try Reading.expectRows(of: #Predicate { ($0.maybe ?? 100 / $0.value) > 15 }, { $0.maybe! > 15 }, Self.zero)
    }

    @Test func anElementBeforeIt() throws {
        try Reading.expectRows(of: #Predicate { $0.list.contains { $0 == 7 || 100 / ($0 - 8) > 0 } }, { _ in true }) {
            $0.list = [7, 8]
        } others: {
            $0.list = [9, 10]
        }
    }
}
