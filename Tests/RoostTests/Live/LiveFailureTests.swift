// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// What goes wrong around live values.
struct LiveFailureTests {
    let place = TemporaryPlace()
    let store: Store
    let all = FetchDescriptor<Fruit>()

    init() throws {
        store = try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Fruit.self, Pebbles.self)
        try store.write { tx in for id in 0..<10 { try tx.insert(Self.fruit(id)) } }
    }

    private static func fruit(_ id: Int, amount: Int? = nil) -> Fruit {
        Fruit(id: id, country: "FR", amount: amount ?? id, weight: 0.1, ratio: nil, rank: nil, name: "n\(id)")
    }

    private func insert(_ id: Int, amount: Int? = nil) async throws {
        try await store.write { tx in try tx.insert(Self.fruit(id, amount: amount)) }
    }

    /// Two records of an entity that are overwritten behind the store's back.
    private func damage(_ id: Int) throws {
        let entity = try store.binding(of: Fruit.self).entity
        try store.engine.environment.write { transaction in
            _ = try id.withKey { key in
                try [UInt8](repeating: 0xEE, count: 7).withUnsafeBytes {
                    try transaction.put(entity.records, key: key, value: $0)
                }
            }
        }
    }

    @Test func aDamagedRecordIsATypedErrorOnce() async throws {
        try damage(3)
        var rows = all.makeLiveObserver().values(store).makeAsyncIterator()
        let error = await failure { try await rows.next() }
        #expect((error as? StoreError)?.code == .damaged)
        #expect(try await rows.next() == nil)
        var sums = all.makeSumObserver(of: \.weight).values(store).makeAsyncIterator()
        #expect((await failure { try await sums.next() } as? StoreError)?.code == .damaged)
        // Which none looks into that only counts.
        var counts = all.makeCountObserver().values(store).makeAsyncIterator()
        #expect(try await counts.next() == 10)
    }

    @Test func aDamagedRecordThatIsReplacedOrDeletedCostsAFetch() async throws {
        let values = FetchDescriptor<Fruit>(predicate: #Predicate { $0.amount > 4 }).makeCountObserver().values(store)
        var counts = values.makeAsyncIterator()
        #expect(try await counts.next() == 5)
        try damage(7)
        try await store.write { tx in _ = try tx.delete(Fruit.self, id: 7) }
        #expect(try await counts.next() == 4)
        #expect(values.statistics.fallBacks == 1)
    }

    @Test func closingEndsThemAndACloseBeforeTheFirstIsThrown() async throws {
        var rows = all.makeLiveObserver().values(store).makeAsyncIterator()
        var counts = all.makeCountsObserver(by: \.country).values(store).makeAsyncIterator()
        var never = all.makeCountObserver().values(store).makeAsyncIterator()
        #expect(try await rows.next()?.objects.count == 10)
        #expect(try await counts.next() == ["FR": 10])
        let waiting = Task { [rows] in
            var rows = rows
            return try await rows.next() == nil
        }
        try store.close()
        #expect(try await waiting.value)
        #expect(try await counts.next() == nil)
        #expect((await failure { try await never.next() } as? StoreError)?.code == .storeClosed)
        #expect(store.engine.bus.pollInterval == nil && !store.engine.bus.wantsImages)
    }

    @Test func cancellationEndsAnIterationAndNotAnotherThatSharesIt() async throws {
        var iterator = all.makeLiveObserver().values(store).makeAsyncIterator()
        _ = try await iterator.next()
        let shared = Shared(iterator: iterator)
        let tasks = (0..<2).map { _ in
            Task { () -> [Int]? in
                var iterator = shared.iterator
                return try await iterator.next()?.difference.inserts
            }
        }
        tasks[0].cancel()
        #expect(try await tasks[0].value == nil)
        try await insert(20)
        #expect(try await tasks[1].value == [10])
        try await insert(21)
        #expect(try await iterator.next()?.difference.inserts == [11])
    }

    /// Unchecked: what the compiler forbids is the test.
    private struct Shared: @unchecked Sendable {
        let iterator: LiveObserver<Fruit, LiveResult<Fruit>>.Iterator
    }

    @Test func releasingAnIteratorLeavesNothingBehind() async throws {
        for _ in 0..<repetitions(100, thorough: 1_000) {
            var rows = all.makeLiveObserver().values(store).makeAsyncIterator()
            _ = try await rows.next()
            let task = Task { [rows] in
                var rows = rows
                while try await rows.next() != nil {}
            }
            try await store.write { tx in _ = try tx.update(Fruit.self, id: 1) { $0.amount += 1 } }
            task.cancel()
            try await task.value
        }
        #expect(store.engine.bus.pollInterval == nil && !store.engine.bus.wantsImages)
    }

    @Test func severalIterationsHaveEachTheirOwnDifferences() async throws {
        let values = all.makeLiveObserver().values(store)
        var (first, second) = (values.makeAsyncIterator(), values.makeAsyncIterator())
        _ = try await first.next()
        try await insert(20)
        #expect(try await second.next()?.difference.inserts.count == 11)
        #expect(try await first.next()?.difference.inserts == [10])
        try await insert(21)
        try await insert(22)
        store.engine.bus.drain()
        #expect(try await first.next()?.difference.inserts == [11, 12])
        #expect(try await second.next()?.difference.inserts == [11, 12])
        #expect(values.statistics.fetches == 2 && values.statistics.fallBacks == 0)
    }

    @Test func aSumThatDoesNotFitIsATypedErrorAndOneThatFitsAgainIsNot() async throws {
        var sums = all.makeSumObserver(of: \.amount).values(store).makeAsyncIterator()
        #expect(try await sums.next() == 45)
        // In between it does not fit, which nobody has seen.
        try await insert(20, amount: .max)
        try await store.write { tx in _ = try tx.delete(Fruit.self, id: 20) }
        store.engine.bus.drain()
        #expect(try await sums.poll() == nil)
        try await insert(20, amount: .max)
        #expect((await failure { try await sums.next() } as? StoreError)?.code == .sumOverflow)
        #expect(try await sums.next() == nil)
        #expect((await failure { try await store.sum(all, of: \.amount) } as? StoreError)?.code == .sumOverflow)
        #expect(try await store.sum(all, of: \.id) == 65)
    }

    @Test func whatIsNoFieldOrHasSeveralValuesIsATypedError() async throws {
        var computed = all.makeSumObserver(of: \.backwards).values(store).makeAsyncIterator()
        #expect((await failure { try await computed.next() } as? StoreError)?.code == .unknownField)
        var ids = all.makeCountsObserver(by: \.id).values(store).makeAsyncIterator()
        #expect((await failure { try await ids.next() } as? StoreError)?.code == .unknownField)
    }

    /// An initialiser from a raw value is the program's code.
    @Test func rawValuesAreMadeNeitherWhereCommitsAreDeliveredNorOnTheWriter() async throws {
        let threads = Mutex<Set<String>>([])
        Hue.made.withLock { $0 = { name in threads.withLock { _ = $0.insert(name) } } }
        let request = FetchDescriptor<Pebbles>()
        var counts = request.makeCountsObserver(by: \.hue).values(store).makeAsyncIterator()
        var rows = request.makeLiveObserver().values(store).makeAsyncIterator()
        #expect(try await counts.next() == [:])
        #expect(try await rows.next()?.objects.isEmpty == true)
        try await store.write { tx in try tx.insert(Pebbles(id: 1, hue: Hue(rawValue: 3))) }
        threads.withLock { $0 = [] }
        store.engine.bus.drain()
        #expect(threads.withLock { $0 } == [])
        #expect(try await counts.next() == [Hue(rawValue: 3): 1])
        #expect(try await rows.next()?.objects.map(\.hue.rawValue) == [3])
        #expect(threads.withLock { $0.contains("roost.map") && !$0.contains("roost.bus") })
    }

    /// Nobody asks for a value for longer than anything is kept.
    @Test func whatWaitsForASlowConsumerIsBoundedAndNothingIsLost() async throws {
        let rows = all.makeLiveObserver().values(store)
        var iterator = rows.makeAsyncIterator()
        let counts = FetchDescriptor<Fruit>(predicate: #Predicate { $0.amount > 4 }).makeCountObserver().values(store)
        var count = counts.makeAsyncIterator()
        _ = try await iterator.next()
        #expect(try await count.next() == 5)
        for round in 0..<40 {
            try await store.write { tx in
                for id in 0..<200 {
                    var fruit = Self.fruit(id, amount: round)
                    fruit.name = String(repeating: "n", count: 1_000)
                    try tx.upsert(fruit)
                }
            }
        }
        store.engine.bus.drain()
        let result = try #require(await iterator.next())
        #expect(result.objects.count == 200 && result.objects.allSatisfy { $0.amount == 39 })
        #expect(result.difference.inserts.count == 190 && result.difference.updates.count == 10)
        // The objects that changed were looked up, once each.
        #expect(rows.statistics.catchUps == 1 && rows.statistics.recordsRead == 10 + 200)
        #expect(rows.statistics.fallBacks == 0)
        // Where nothing of the program's runs, nothing waits.
        #expect(try await count.next() == 200)
        #expect(counts.statistics.fallBacks == 0 && counts.statistics.recordsRead <= 10)
    }

    /// More than is applied where commits are delivered.
    @Test func aCommitOfManyObjectsIsAppliedWhereTheValueIsMade() async throws {
        let values = all.makeCountObserver().values(store)
        var counts = values.makeAsyncIterator()
        #expect(try await counts.next() == 10)
        try await store.write { tx in for id in 100..<3_100 { try tx.insert(Self.fruit(id)) } }
        #expect(try await counts.next() == 3_010)
        #expect(values.statistics.fallBacks == 0 && values.statistics.recordsRead == 0)
    }

    /// Only what moves among the others is said to move.
    @Test func aRowWhoseKeyChangesInItsPlaceIsUpdatedAndNotMoved() async throws {
        let request = FetchDescriptor<Fruit>(sortBy: [SortDescriptor(\.amount)])
        var rows = request.makeLiveObserver().values(store).makeAsyncIterator()
        _ = try await rows.next()
        try await store.write { tx in _ = try tx.update(Fruit.self, id: 9) { $0.amount = 100 } }
        var difference = try #require(await rows.next()?.difference)
        #expect(difference.moves.isEmpty && difference.updates == [.init(from: 9, to: 9)])
        try await store.write { tx in
            try tx.update(Fruit.self, id: 0) { $0.amount = 50 }
            try tx.delete(Fruit.self, id: 4)
        }
        difference = try #require(await rows.next()?.difference)
        #expect(difference.moves == [.init(from: 0, to: 7)] && difference.removes == [4])
    }
}

/// A raw value whose making is noted.
struct Hue: RawRepresentable, FieldValue {
    static let made = Mutex<@Sendable (String) -> Void>({ _ in })
    let rawValue: Int
    init(rawValue: Int) {
        self.rawValue = rawValue
        Self.made.withLock { $0 }(Thread.current.name ?? "")
    }
}

@Entity struct Pebbles {
    var id: Int
    var hue: Hue
}
