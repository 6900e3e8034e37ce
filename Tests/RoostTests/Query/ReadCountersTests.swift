// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

/// What the public counters say of one operation.
struct ReadCountersTests {
    private let store: Store
    private let place = TemporaryPlace()

    init() throws {
        store = try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Town.self, Land.self)
        try store.write { tx in
            try tx.insert(contentsOf: (1...10).map { Town(id: $0, name: "\($0)", land: Ref("FR"), population: $0) })
        }
    }

    private func cost(_ body: () throws -> Void) rethrows -> ReadCounters {
        let before = store.readCounters
        try body()
        return store.readCounters - before
    }

    @Test func aLookUpIsOneRecord() throws {
        let cost = try cost { _ = try store.get(Town.self, id: 3) }
        #expect(cost == ReadCounters(snapshots: 1, entriesVisited: 0, recordsRead: 1))
        #expect(cost.description == "1 snapshot, 0 index entries visited, 1 record read")
    }

    @Test func aCountByAnIndexReadsNoRecord() throws {
        let cost = try cost { _ = try store.count(Town.inLand("FR")) }
        #expect(cost == ReadCounters(snapshots: 1, entriesVisited: 10, recordsRead: 0))
    }

    @Test func aWriteIsNotInThem() throws {
        let cost = try cost { try store.write { tx in _ = try tx.update(Town.self, id: 3) { $0.population = 0 } } }
        #expect(cost == ReadCounters(snapshots: 0, entriesVisited: 0, recordsRead: 0))
    }
}
