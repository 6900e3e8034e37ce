// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

struct ResolverTests {
    let place = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Town.self, Land.self)
        try store.write { tx in
            for id in 1...2_500 { try tx.insert(Town(id: id, name: "t\(id)", land: Ref("FR"), population: id)) }
        }
    }

    @Test func objectsComeInTheCallersOrderWithoutTheMissing() async throws {
        let resolver = try store.resolver(for: Town.self)
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve([7, 99_999, 3, 7, -1, 5])
        #expect(await values.next()?.map(\.id) == [7, 3, 7, 5])
    }

    @Test func longListIsLookedUpInChunks() async throws {
        let resolver = try store.resolver(for: Town.self, chunkSize: 100)
        var values = resolver.values.makeAsyncIterator()
        let ids = Array((1...2_600).reversed())
        resolver.resolve(ids)
        let before = store.engine.environment.readTotals
        #expect(await values.next()?.map(\.id) == ids.filter { $0 <= 2_500 })
        let after = store.engine.environment.readTotals
        #expect(after.reads == before.reads + 1)
        #expect(after.counters.recordsRead - before.counters.recordsRead == 2_500)
    }

    @Test func equalListDoesNotFetchAgainAndOrderCounts() async throws {
        let resolver = try store.resolver(for: Town.self)
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve([1, 2])
        #expect(await values.next()?.map(\.id) == [1, 2])
        let before = store.engine.environment.readTotals.reads
        resolver.resolve([1, 2])
        resolver.resolve([2, 1])
        #expect(await values.next()?.map(\.id) == [2, 1])
        #expect(store.engine.environment.readTotals.reads == before + 1)
    }

    @Test func commitThatCreatesChangesOrDeletesOneOfItsObjectsFires() async throws {
        let resolver = try store.resolver(for: Town.self)
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve([1, 3_000])
        #expect(await values.next()?.map(\.name) == ["t1"])
        try await store.write { tx in try tx.insert(Town(id: 3_000, name: "new", land: Ref("DE"), population: 1)) }
        #expect(await values.next()?.map(\.name) == ["t1", "new"])
        try await store.write { tx in _ = try tx.update(Town.self, id: 1) { $0.name = "first" } }
        #expect(await values.next()?.map(\.name) == ["first", "new"])
        try await store.write { tx in _ = try tx.delete(Town.self, id: 1) }
        #expect(await values.next()?.map(\.name) == ["new"])
    }

    @Test func commitOnOtherObjectsReadsNothing() async throws {
        let resolver = try store.resolver(for: Town.self)
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve([1, 2])
        #expect(await values.next()?.count == 2)
        let before = store.engine.environment.readTotals
        try await store.write { tx in _ = try tx.update(Town.self, id: 3) { $0.name = "other" } }
        try await store.write { tx in try tx.insert(Land(id: "X", name: "X")) }
        store.engine.bus.drain()
        #expect(store.engine.environment.readTotals == before)
        // What comes next is the commit that changes it.
        try await store.write { tx in _ = try tx.update(Town.self, id: 2) { $0.name = "two" } }
        #expect(await values.next()?.map(\.name) == ["t1", "two"])
        #expect(store.engine.environment.readTotals.reads == before.reads + 1)
    }

    @Test func textIDsAreResolvedInAnySpelling() async throws {
        try await store.write { tx in try tx.insert(Land(id: "Caf\u{E9}", name: "composed")) }
        let resolver = try store.resolver(for: Land.self)
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve(["Cafe\u{301}", String(repeating: "x", count: 4_000)])
        #expect(await values.next()?.map(\.id) == ["Caf\u{E9}"])
        try await store.write { tx in _ = try tx.update(Land.self, id: "Caf\u{E9}") { $0.name = "changed" } }
        #expect(await values.next()?.map(\.name) == ["changed"])
    }

    @Test func cancellationAndClosingEndIt() async throws {
        let resolver = try store.resolver(for: Town.self)
        resolver.resolve([1])
        let (seen, seeing) = AsyncStream<Int>.makeStream()
        let task = Task {
            for await towns in resolver.values { seeing.yield(towns.count) }
        }
        for await _ in seen { break }
        task.cancel()
        await task.value
        #expect(store.engine.environment.oldestReader == nil)

        var values = resolver.values.makeAsyncIterator()
        #expect(await values.next()?.count == 1)
        let following = Task { [values] in
            var values = values
            return await values.next()
        }
        try store.close()
        #expect(await following.value == nil)
        var late = resolver.values.makeAsyncIterator()
        #expect(await late.next() == nil)
    }

    /// All of them were.
    @Test func onlyTheChangedObjectsAreReadAgain() async throws {
        let resolver = try store.resolver(for: Town.self)
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve(Array(1...2_600) + [5])
        #expect(await values.next()?.count == 2_501)
        func recordsRead() -> Int { Int(store.engine.environment.readTotals.counters.recordsRead) }
        var before = recordsRead()
        try await store.write { tx in
            _ = try tx.update(Town.self, id: 5) { $0.name = "five" }
            try tx.insert(Town(id: 2_550, name: "new", land: Ref("FR"), population: 1))
            _ = try tx.delete(Town.self, id: 7)
            try tx.insert(Town(id: 9_999, name: "other", land: Ref("FR"), population: 1))
        }
        before = recordsRead()
        let value = await values.next()
        // Those that are there of the three.
        #expect(recordsRead() - before == 2)
        #expect(value?.filter { $0.name == "five" }.count == 2)
        #expect(value?.last?.name == "five" && value?.dropLast().last?.name == "new")
        #expect(value.map(Array.init) == (try await store.get(Town.self, ids: Array(1...2_600) + [5])))
    }

    @Test func ofAnotherListOnlyWhatIsNewIsRead() async throws {
        let resolver = try store.resolver(for: Town.self)
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve(1...100)
        #expect(await values.next()?.map(\.id) == Array(1...100))
        let before = store.engine.environment.readTotals.counters.recordsRead
        resolver.resolve(11...110)
        #expect(await values.next()?.map(\.id) == Array(11...110))
        #expect(store.engine.environment.readTotals.counters.recordsRead - before == 10)
    }

    @Test func changeOfAnObjectThatIsReusedIsSeenInTheNextList() async throws {
        let resolver = try store.resolver(for: Town.self)
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve([1, 2, 3])
        _ = await values.next()
        try await store.write { tx in _ = try tx.update(Town.self, id: 2) { $0.name = "two" } }
        resolver.resolve([3, 2])
        #expect(await values.next()?.map(\.name) == ["t3", "two"])
    }

    @Test func entityThatTheStoreDoesNotKnowIsAnErrorWhereTheResolverIsMade() throws {
        let error = #expect(throws: StoreError.self) { try store.resolver(for: Storage.Note.self) }
        #expect(error?.code == .unknownEntity)
    }

    @Test func equalListIsFetchedWhereListsAreNotCompared() async throws {
        let resolver = try store.resolver(for: Town.self, dropsEqualLists: false)
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve([1])
        #expect(await values.next()?.count == 1)
        resolver.resolve([1])
        #expect(await values.next()?.count == 1)
    }

    /// Each value is what a look-up gives, whatever was read anew.
    @Test func patchedValuesEqualALookUp() async throws {
        var generator = SeededGenerator()
        let resolution = try Resolution<Town>(store, IDList([]), chunkSize: 10)
        defer { resolution.close() }
        var (ids, shown): ([Int], [Town]) = ([], [])
        var answers = 0
        for round in 0..<400 {
            if round % 7 == 0 {
                ids = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                    Int.random(in: 2_480...2_520, using: &generator)
                }
                resolution.replace(by: IDList(ids))
            }
            try await store.write { [seed = generator.next()] tx in
                var generator = SeededGenerator(seed: seed)
                for _ in 0..<Int.random(in: 0...4, using: &generator) {
                    let id = Int.random(in: 2_480...2_520, using: &generator)
                    if Bool.random(using: &generator) {
                        _ = try tx.delete(Town.self, id: id)
                    } else {
                        let name = "r\(Int.random(in: 0...2, using: &generator))"
                        try tx.upsert(Town(id: id, name: name, land: Ref("FR"), population: 1))
                    }
                }
            }
            store.engine.bus.drain()
            let isInvalid = resolution.signal.isInvalid
            if isInvalid, let answer = try await resolution.read() {
                shown = Array(answer.objects)
                answers += 1
            }
            #expect(shown == (try await store.get(Town.self, ids: ids)))
            #expect(!resolution.signal.isInvalid)
        }
        #expect(answers > 100)
    }

    @Test func strictValuesThrowWithTheMissingIDs() async throws {
        let resolver = try store.resolver(for: Town.self)
        var values = resolver.strictValues.makeAsyncIterator()
        resolver.resolve([1, 2])
        #expect(try await values.next()?.map(\.id) == [1, 2])
        resolver.resolve([1, 9_001, 2, 9_002, 9_001])
        let error = await #expect(throws: MissingObjects<Int>.self) { try await values.next() }
        #expect(error?.ids == [9_001, 9_002])
        #expect(try await values.next() == nil)
        // Begun anew.
        var again = resolver.strictValues.makeAsyncIterator()
        resolver.resolve([2])
        #expect(try await again.next()?.map(\.id) == [2])
        try await store.write { tx in _ = try tx.delete(Town.self, id: 2) }
        await #expect(throws: MissingObjects<Int>.self) { try await again.next() }
        try store.close()
        var closed = resolver.strictValues.makeAsyncIterator()
        #expect(try await closed.next() == nil)
    }
}
