// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Consumers that wait while commits come as fast as they can.
struct LiveConcurrencyTests {
    let place = TemporaryPlace()

    /// Every difference leads from the value before to the value, no value is lost at the end, and nothing is read again.
    @Test func valuesBesideUnpacedCommitsFollowFromEachOther() async throws {
        let store = try await Store.open(at: place.url, options: .init(durability: .unsafe), entities: Fruit.self)
        var top = FetchDescriptor<Fruit>(sortBy: [SortDescriptor(\.amount, order: .reverse)])
        top.fetchLimit = 5
        let requests = [
            FetchDescriptor<Fruit>(sortBy: [SortDescriptor(\.weight)]), top,
            FetchDescriptor<Fruit>(predicate: #Predicate { $0.amount > 5 }),
        ]
        let last = Fruit(id: -1, country: "end", amount: 1_000, weight: 0, ratio: nil, rank: nil, name: "")
        let values = (0..<6).map { requests[$0 % 3].makeLiveObserver().values(store) }
        let rows = values.map { values in
            Task { () -> [Int] in
                var rows: [Fruit] = []
                for try await result in values {
                    rows = result.difference.applied(to: rows, taking: result.objects)
                    #expect(rows.map(\.fingerprint) == result.objects.map(\.fingerprint))
                    if rows.contains(where: { $0.id == -1 }) { break }
                }
                return rows.map(\.id)
            }
        }
        let counts = requests[2].makeCountObserver().values(store)
        let groups = FetchDescriptor<Fruit>().makeCountsObserver(by: \.country).values(store)
        let byCountry = Task { () -> [String?: Int] in
            for try await counts in groups where counts["end"] != nil { return counts }
            return [:]
        }
        let count = Task { () -> [Int] in
            var seen: [Int] = []
            for try await count in counts { seen.append(count) }
            return seen
        }
        var random = SeededGenerator()
        var model: [Int: Fruit] = [:]
        for number in 0..<repetitions(1_000, thorough: 50_000) {
            var (changed, generator) = (model, random)
            func write() throws {
                try store.write { tx in
                    try FruitEdits.apply(to: tx, &changed, isEbb: number % 60 > 30, using: &generator)
                }
            }
            try write()
            (model, random) = (changed, generator)
        }
        try await store.write { tx in try tx.insert(last) }
        for (index, task) in rows.enumerated() {
            #expect(try await task.value == (try await store.ids(requests[index % 3])))
            #expect(values[index].statistics.fetches == 1 && values[index].statistics.fallBacks == 0)
        }
        #expect(try await byCountry.value == (try await store.counts(FetchDescriptor<Fruit>(), by: \.country)))
        let expected = try await store.count(requests[2])
        store.engine.bus.drain()
        try store.close()
        let seen = try await count.value
        #expect(seen.last == expected)
        // A value comes only when it is another one.
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test func aConsumerThatNeverReturnsHoldsUpNobody() async throws {
        let store = try await Store.open(at: place.url, options: .init(durability: .unsafe), entities: Fruit.self)
        let (entered, entering) = AsyncStream<Void>.makeStream()
        let blocked = FetchDescriptor<Fruit>().makeLiveObserver().values(store)
        let task = Task {
            for try await _ in blocked {
                entering.yield()
                // Until the test ends: nobody asks for another value.
                for await _ in AsyncStream<Void>.makeStream().stream {}
            }
        }
        for await _ in entered { break }
        var others = FetchDescriptor<Fruit>().makeCountObserver().values(store).makeAsyncIterator()
        #expect(try await others.next() == 0)
        for id in 0..<50 {
            try await store.write { tx in
                try tx.insert(Fruit(id: id, country: nil, amount: 0, weight: 0, ratio: nil, rank: nil, name: ""))
            }
            #expect(try await others.next() == id + 1)
        }
        try store.close()
        task.cancel()
    }
}
