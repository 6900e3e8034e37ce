// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

/// Orders that no key expresses.
@Suite("Orders of the type's own are taken from the objects") struct SortFallbackTests {
    private func withCrates(_ body: (Store) throws -> Void) throws {
        try withTemporaryStore([Crate.self]) { store in
            try store.write { tx in
                for number in 0..<30 {
                    let inner = Ref<Crate>(CrateID(rawValue: UInt16(number % 3)))
                    try tx.insert(Crate(id: CrateID(rawValue: UInt16(number)), inner: inner, value: number))
                }
            }
            try body(store)
        }
    }

    @Test func ofAnEnumWithoutRawValueOrdered() throws {
        var random = SeededRandom(seed: 4)
        let samples = Samples(long: false, using: &random)
        let specimens = (0..<60).map { samples.specimen($0, using: &random) }
        try withTemporaryStore([Specimen.self]) { store in
            try store.write { tx in try tx.insert(contentsOf: specimens) }
            for order in [SortOrder.forward, .reverse] {
                let request = FetchDescriptor<Specimen>(sortBy: [SortDescriptor(\.kind, order: order)])
                let forward = specimens.sorted { ($0.kind, $0.id) < ($1.kind, $1.id) }.map(\.id)
                #expect(try store.fetch(request).map(\.id) == (order == .forward ? forward : forward.reversed()))
                #expect(try store.explain(request).plan == "table scan of Specimen, sort in memory")
            }
            let plant = Kind.plant
            // Its equality is served by the index all the same.
            let kind = FetchDescriptor<Specimen>(
                predicate: #Predicate { $0.kind == plant }, sortBy: [SortDescriptor(\.id)])
            try store.read { tx in
                let plans = try tx.context.planner(kind).all().map { $0.describe() }
                #expect(plans.contains { $0.hasPrefix("index scan Specimen(kind)") })
            }
        }
    }

    /// `Ref` took its target's IDs to be ordered as stored, whatever their type said.
    @Test func ofAReferencedIDWithAnOrderOfItsOwn() throws {
        try withCrates { (store) throws in
            let one = CrateID(rawValue: 1)
            let below = FetchDescriptor<Crate>(predicate: #Predicate { $0.inner.id < one })
            #expect(try store.fetch(below).map(\.inner.id.rawValue) == Array(repeating: 2, count: 10))
            let sorted = FetchDescriptor<Crate>(sortBy: [SortDescriptor(\.inner.id)])
            #expect(try store.fetch(sorted).first?.inner.id.rawValue == 2)
        }
    }

    /// Limits near `Int.max` must not overflow in the planner or in the sort.
    @Test func withALimitAndAnOffsetOfAnySize() throws {
        try withCrates { (store) throws in
            for (limit, offset) in [
                (Int.max, Int.max), (.max, 1), (.max - 1, 0), (1, .max), (.min, .min), (1 << 61, 3),
            ] {
                for sort in [[SortDescriptor(\Crate.value)], [SortDescriptor(\Crate.inner.id)], []] {
                    var request = FetchDescriptor<Crate>(predicate: #Predicate { $0.value >= 0 }, sortBy: sort)
                    request.fetchLimit = limit
                    request.fetchOffset = offset
                    let rows = limit == 1 || offset > 30 ? 0 : 30 - max(0, offset)
                    #expect(try store.fetch(request).count == rows)
                    #expect(try store.ids(request).count == rows)
                    #expect(try store.count(request) == rows)
                }
            }
        }
    }
}
