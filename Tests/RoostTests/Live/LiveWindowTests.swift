// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Windows that are kept up to date: what they read, and what they do not.
struct LiveWindowTests {
    let place = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Fruit.self)
        try store.write { tx in
            for id in 0..<1_000 {
                try tx.insert(
                    Fruit(id: id, country: "FR", amount: id, weight: 0, ratio: nil, rank: nil, name: "n\(id)"))
            }
        }
    }

    private func top(_ limit: Int, offset: Int? = nil) -> FetchDescriptor<Fruit> {
        var request = FetchDescriptor<Fruit>(sortBy: [SortDescriptor(\.amount, order: .reverse)])
        request.fetchLimit = limit
        request.fetchOffset = offset
        return request
    }

    private func delete(_ ids: some Sequence<Int> & Sendable) async throws {
        try await store.write { tx in for id in ids { try tx.delete(Fruit.self, id: id) } }
    }

    @Test func oneThatLosesARowReadsNothingUntilItsReserveIsUsedUp() async throws {
        let values = top(10).makeLiveObserver().values(store)
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next()?.objects.map(\.id) == Array((990..<1_000).reversed()))
        #expect(values.statistics.recordsRead == 26)
        for id in (984..<1_000).reversed() {
            try await delete([id])
            let result = try #require(await iterator.next())
            #expect(result.objects.map(\.id) == Array((id - 10..<id).reversed()))
            #expect(result.difference.removes == [0] && result.difference.inserts == [9])
        }
        #expect(values.statistics.recordsRead == 26 && values.statistics.refills == 0)
        // The next one is one too many.
        try await delete([983])
        #expect(try await iterator.next()?.objects.map(\.id) == Array((973..<983).reversed()))
        // As many as are missing, and no row twice.
        #expect(values.statistics.refills == 1 && values.statistics.recordsRead == 26 + 17)
        #expect(values.statistics.fetches == 1 && values.statistics.fallBacks == 0)
    }

    @Test func aRowThatIsNotInItReadsNothingAndGivesNoValue() async throws {
        let values = top(10).makeLiveObserver().values(store)
        var iterator = values.makeAsyncIterator()
        _ = try await iterator.next()
        let before = store.readCounters
        try await delete(0..<500)
        try await store.write { tx in _ = try tx.update(Fruit.self, id: 600) { $0.name = "other" } }
        // In the reserve: held, and not told.
        try await store.write { tx in _ = try tx.update(Fruit.self, id: 980) { $0.name = "other" } }
        store.engine.bus.drain()
        #expect(try await iterator.poll() == nil)
        #expect(store.readCounters == before)
        try await store.write { tx in _ = try tx.update(Fruit.self, id: 600) { $0.amount = 5_000 } }
        let result = try #require(await iterator.next())
        #expect(result.objects.first?.id == 600)
        #expect(result.difference.inserts == [0] && result.difference.removes == [9])
        #expect(store.readCounters.recordsRead == before.recordsRead)
    }

    @Test func rowsBeforeItMoveItByTheirNumber() async throws {
        let values = top(5, offset: 3).makeLiveObserver().values(store)
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next()?.objects.map(\.id) == [996, 995, 994, 993, 992])
        try await delete([999, 998])
        let result = try #require(await iterator.next())
        #expect(result.objects.map(\.id) == [994, 993, 992, 991, 990])
        #expect(result.difference.removes == [1, 0] && result.difference.inserts == [3, 4])
        #expect(values.statistics.fetches == 1 && values.statistics.refills == 0)
    }

    @Test func oneThatGrewAndShrankIsRight() async throws {
        let values = top(10).makeLiveObserver().values(store)
        var iterator = values.makeAsyncIterator()
        _ = try await iterator.next()
        // More than are held.
        try await store.write { tx in
            for id in 2_000..<5_000 {
                try tx.insert(Fruit(id: id, country: nil, amount: id, weight: 0, ratio: nil, rank: nil, name: ""))
            }
        }
        #expect(try await iterator.next()?.objects.map(\.id) == Array((4_990..<5_000).reversed()))
        try await delete(2_500..<5_000)
        #expect(try await iterator.next()?.objects.map(\.id) == Array((2_490..<2_500).reversed()))
        try await delete(0..<2_500)
        #expect(try await iterator.next()?.objects.isEmpty == true)
        try await store.write { tx in
            try tx.insert(Fruit(id: 1, country: nil, amount: 1, weight: 0, ratio: nil, rank: nil, name: ""))
        }
        #expect(try await iterator.next()?.objects.map(\.id) == [1])
        #expect(values.statistics.fallBacks == 0)
    }
}
