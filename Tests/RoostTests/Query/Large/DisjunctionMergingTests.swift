// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

@Suite("Equalities of one field become one set") struct DisjunctionMergingTests {
    private func parts(_ predicate: Predicate<Reading>) throws -> [String] {
        let filter = try withTemporaryStore([Reading.self]) { store in
            try Lowering.filter(predicate, try store.binding(of: Reading.self))
        }
        func name(_ filter: Filter) -> String {
            switch filter {
            case .isIn(let position, let values): "\(values.count) values of \(position)"
            case .compare(let comparison): "comparison of \(comparison.position)"
            case .object: "object"
            case .constant(let holds): "\(holds)"
            default: "other"
            }
        }
        if case .or(let parts) = filter { return parts.map(name) }
        return [name(filter)]
    }

    @Test func amongOthers() throws {
        let parts = try parts(
            #Predicate { $0.value == 1 || $0.other == 2 || $0.value == 3 || $0.value > 8 || $0.other == 4 })
        #expect(parts == ["2 values of 1", "2 values of 2", "comparison of 1"])
    }

    @Test func withNaNThatEqualsNothing() throws {
        let nan = Double.nan
        #expect(try parts(#Predicate { $0.factor == 1 || $0.factor == nan || $0.factor == 2 }) == ["2 values of 5"])
    }

    /// The empty set took the place of the equalities' one: no row was found.
    @Test func emptyCapturedSetTakesNobodysPlace() throws {
        let (none, one): ([Int], [Int]) = ([], [5])
        #expect(try parts(#Predicate { none.contains($0.value) || $0.value == 5 }) == ["comparison of 1"])
        #expect(try parts(#Predicate { none.contains($0.value) || one.contains($0.value) }) == ["1 values of 1"])
        #expect(try parts(#Predicate { none.contains($0.value) || none.contains($0.other) }) == ["false"])
        #expect(
            try parts(#Predicate { $0.value == 5 || none.contains($0.value) || $0.value == 6 }) == ["2 values of 1"])
    }

    /// Otherwise the object for which `value == 3` holds would be found where the predicate fails.
    @Test func notPastAPartThatCanThrow() throws {
        let parts = try parts(#Predicate { $0.value == 1 || 10 / $0.other == 1 || $0.value == 3 })
        #expect(parts == ["comparison of 1", "object", "comparison of 1"])
    }
}
