// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Live values beside another process's commits, of which the history says the IDs and fields.
struct LiveOtherProcessTests {
    let place = TemporaryPlace()
    let store: Store
    let other: HelperProcess

    init() throws {
        store = try Store.open(at: place.url, entities: Fruit.self)
        try store.write { tx in
            for id in 0..<100 { try tx.insert(Self.fruit(id)) }
        }
        other = try HelperProcess(["order", place.url.path])
        #expect(other.line() == "ready")
    }

    private static func fruit(_ id: Int, amount: Int? = nil, name: String = "n") -> Fruit {
        Fruit(id: id, country: "FR", amount: amount ?? id, weight: 1, ratio: nil, rank: nil, name: name)
    }

    private struct Order: Codable {
        var put: [Fruit] = []
        var delete: [Int] = []
    }

    private func order(put: [Fruit] = [], delete: [Int] = []) throws {
        other.send(String(decoding: try JSONEncoder().encode(Order(put: put, delete: delete)), as: UTF8.self))
        #expect(other.line() == "done")
    }

    @Test func rowsReadTheChangedObjectsAlone() async throws {
        var request = FetchDescriptor<Fruit>(sortBy: [SortDescriptor(\.amount, order: .reverse)])
        request.fetchLimit = 10
        let values = request.makeLiveObserver().values(store)
        var rows = values.makeAsyncIterator()
        #expect(try await rows.next()?.objects.first?.id == 99)
        try order(put: [Self.fruit(5, amount: 500)])
        let result = try #require(await rows.next())
        #expect(result.objects.first?.id == 5 && result.difference.inserts == [0] && result.difference.removes == [9])
        try order(delete: [5, 99])
        #expect(try await rows.next()?.objects.first?.id == 98)
        #expect(values.statistics.fetches == 1 && values.statistics.fallBacks == 0)
        #expect(values.statistics.recordsRead == 26 + 1)
        #expect(other.finish() == 0)
    }

    @Test func countsKnowWhatIsNewAndWhatDoesNotConcernThem() async throws {
        let values = FetchDescriptor<Fruit>(predicate: #Predicate { $0.amount > 50 }).makeCountObserver().values(store)
        var counts = values.makeAsyncIterator()
        #expect(try await counts.next() == 49)
        let before = values.statistics
        // A field that it does not read, and two that are new.
        try order(put: [Self.fruit(60, name: "other")])
        try order(put: [Self.fruit(200), Self.fruit(-1)])
        #expect(try await counts.next() == 50)
        #expect(values.statistics.fetches == 1 && values.statistics.recordsRead <= before.recordsRead + 2)
        // One of which it does not know whether it counted.
        try order(delete: [70])
        #expect(try await counts.next() == 49)
        #expect(values.statistics.fallBacks == 1)
        #expect(other.finish() == 0)
    }

    @Test func aCountOfEverythingIsToldByTheHistoryAlone() async throws {
        let values = FetchDescriptor<Fruit>().makeCountObserver().values(store)
        var counts = values.makeAsyncIterator()
        #expect(try await counts.next() == 100)
        try order(put: [Self.fruit(70, amount: 1)], delete: [0, 1, 2])
        #expect(try await counts.next() == 97)
        #expect(values.statistics.fallBacks == 0 && values.statistics.fetches == 1)
        #expect(other.finish() == 0)
    }

    /// The object was looked at when it had been changed again, did not match, and the count was not told that it had come: then
    /// ours took away what had never been added.
    @Test func whatTheyInsertedAndWeChangedBeforeItWasToldIsCountedOnceAndTakenAwayOnce() async throws {
        let values = FetchDescriptor<Fruit>(predicate: #Predicate { $0.amount > 50 }).makeCountObserver().values(store)
        var counts = values.makeAsyncIterator()
        #expect(try await counts.next() == 49)
        let release = Signal()
        _ = store.engine.bus.thread.async { release.wait() }
        try order(put: [Self.fruit(200, amount: 60)])
        try await store.write { tx in _ = try tx.update(Fruit.self, id: 200) { $0.amount = 1 } }
        release.send()
        store.engine.bus.drain()
        #expect(try await counts.poll() == nil)
        try await store.write { tx in try tx.insert(Self.fruit(201)) }
        #expect(try await counts.next() == 50)
        #expect(other.finish() == 0)
    }
}
