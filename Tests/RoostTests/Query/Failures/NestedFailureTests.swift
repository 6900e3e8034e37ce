// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

/// Whatever stands above the operation that fails.
@Suite("A failure below another node is a failure, not a trap") struct NestedFailureTests {
    private static func makeHuge(_ reading: inout Reading) {
        reading.value = .max
        reading.list = [1, .max]
    }

    private func expectOverflow(
        _ predicate: Predicate<Reading>, at location: SourceLocation = #_sourceLocation
    ) throws {
        try Reading.expectFailure(of: predicate, because: "overflow", Self.makeHuge, at: location)
    }

    @Test func belowNegation() throws { try expectOverflow(#Predicate { !($0.value + 1 > 5) }) }

    @Test func belowEquality() throws { try expectOverflow(#Predicate { ($0.value + 1 == 5) == true }) }

    @Test func belowInequality() throws { try expectOverflow(#Predicate { $0.value + 1 != 5 }) }

    @Test func belowAnotherSum() throws { try expectOverflow(#Predicate { ($0.value + 1) - 1 > 5 }) }

    @Test func belowAQuotient() throws { try expectOverflow(#Predicate { ($0.value + 1) / 2 > 5 }) }

    @Test func belowARemainder() throws { try expectOverflow(#Predicate { ($0.value + 1) % 2 == 0 }) }

    @Test func belowAUnaryMinus() throws { try expectOverflow(#Predicate { -($0.value + 1) < 5 }) }

    @Test func inACondition() throws { try expectOverflow(#Predicate { ($0.value + 1 > 5) ? true : false }) }

    @Test func inABranch() throws { try expectOverflow(#Predicate { $0.id >= 0 ? $0.value + 1 > 5 : false }) }

    @Test func behindNilCoalescing() throws {
        try Reading.expectFailure(of: #Predicate { ($0.maybe ?? $0.value + 1) > 5 }, because: "overflow") {
            Self.makeHuge(&$0)
            $0.maybe = nil
        }
    }

    @Test func inAnIfLet() throws {
        try Reading.expectFailure(
            of: #Predicate { if let maybe = $0.maybe { maybe + 1 > 5 } else { false } }, because: "overflow"
        ) { $0.maybe = .max }
    }

    @Test func inAFlatMap() throws {
        try Reading.expectFailure(of: #Predicate { ($0.maybe.flatMap { $0 + 1 } ?? 0) > 5 }, because: "overflow") {
            $0.maybe = .max
        }
    }

    @Test func inContainsWhere() throws { try expectOverflow(#Predicate { $0.list.contains { $0 + 1 == 0 } }) }

    @Test func inAllSatisfy() throws { try expectOverflow(#Predicate { $0.list.allSatisfy { $0 + 1 > 0 } }) }

    @Test func inAFilter() throws { try expectOverflow(#Predicate { $0.list.filter { $0 + 1 > 0 }.isEmpty }) }

    @Test func belowAMaximum() throws {
        try expectOverflow(#Predicate { ($0.list.filter { $0 + 1 > 0 }.max() ?? 0) > 3 })
    }

    @Test func belowAMinimum() throws {
        try expectOverflow(#Predicate { ($0.list.filter { $0 + 1 > 0 }.min() ?? 0) > 3 })
    }

    @Test func inASubscript() throws {
        try expectOverflow(#Predicate { $0.list.isEmpty || $0.list[($0.value + 1) * 0] > 3 })
    }

    @Test func inASubscriptOfACapturedDictionary() throws {
        let names = [5: "five"]
        try expectOverflow(#Predicate { names[$0.value + 1] == "five" })
    }

    @Test func inASubscriptWithADefault() throws {
        let names = [5: "five"]
        try expectOverflow(#Predicate { names[$0.value + 1, default: "other"] == "five" })
    }

    @Test func inAnElementLookedFor() throws { try expectOverflow(#Predicate { [3, 4].contains($0.value + 1) }) }

    @Test func inABoundOfARange() throws { try expectOverflow(#Predicate { (0...($0.value + 1)).contains($0.id) }) }
}
