// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// Running observations: shared, paused, asked for something else, stopped.
struct FetchObservationTests {
    let folder = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: folder.url, options: .init(durability: .unsafe), entities: Town.self, Land.self)
        try store.write { tx in
            try tx.insert(Town(id: 1, name: "Lyon", land: Ref("FR"), population: 500))
            try tx.insert(Town(id: 2, name: "Berlin", land: Ref("DE"), population: 3_500))
        }
    }

    private var snapshots: Int { Int(store.engine.environment.readTotals.reads) }

    private func insert(_ id: Int, _ land: String = "FR") async throws {
        try await store.write { tx in try tx.insert(Town(id: id, name: "n\(id)", land: Ref(land), population: id)) }
        store.engine.bus.drain()
    }

    private func start<Value: Sendable>(
        _ map: @escaping @Sendable ([Town]) throws -> Value
    ) throws -> FetchObservation<Town, Value> {
        try Town.inLand("FR").makeObserver(map).start(in: store)
    }

    @Test func consumersShareOneFetchForEachChange() async throws {
        let maps = Counter()
        let shared = try start { towns in
            maps.increment()
            return towns.count
        }
        let (reports, reporting) = AsyncStream<(consumer: Int, count: Int)>.makeStream()
        let tasks = (0..<5).map { consumer in
            Task {
                for try await count in shared.values { reporting.yield((consumer, count)) }
            }
        }
        var seen: [Int: Set<Int>] = [:]
        var next = 3
        for await (consumer, count) in reports {
            seen[count, default: []].insert(consumer)
            guard seen[count]?.count == 5 else { continue }
            if count == 4 { break }
            try await insert(next)
            next += 1
        }
        #expect(maps.value == 4)
        // Who comes late gets what there is.
        var late = shared.values.makeAsyncIterator()
        #expect(try await late.next() == 4)
        #expect(maps.value == 4)
        shared.stop()
        for task in tasks { try await task.value }
        #expect(try await late.next() == nil)
        #expect(!store.engine.bus.wantsImages)
    }

    @Test func cancelledConsumerThatFetchedForAllIsFollowedByAnother() async throws {
        let shared = try start { $0.count }
        let (first, second) = (Log<Int>(), Log<Int>())
        let leader = Task { for try await count in shared.values { first.note(count) } }
        while first.noted.isEmpty { await Task.yield() }
        let (reports, reporting) = AsyncStream<Int>.makeStream()
        let follower = Task {
            for try await count in shared.values {
                second.note(count)
                reporting.yield(count)
            }
        }
        while second.noted.isEmpty { await Task.yield() }
        leader.cancel()
        try await leader.value
        try await insert(3)
        for await count in reports where count == 2 { break }
        #expect(first.noted == [1])
        #expect(second.noted == [1, 2])
        follower.cancel()
        try await follower.value
    }

    @Test func pausedObservationFetchesNothingAndCatchesUpOnce() async throws {
        let shared = try start { $0.count }
        let (reports, reporting) = AsyncStream<Int>.makeStream()
        let task = Task { for try await count in shared.values { reporting.yield(count) } }
        var counts = reports.makeAsyncIterator()
        #expect(await counts.next() == 1)
        shared.isPaused = true
        #expect(shared.isPaused)
        let before = snapshots
        for id in 3...5 { try await insert(id) }
        #expect(snapshots == before)
        shared.isPaused = false
        #expect(await counts.next() == 4)
        // Nothing was missed: nothing follows.
        shared.isPaused = true
        try await insert(6, "DE")
        shared.isPaused = false
        try await insert(7)
        #expect(await counts.next() == 5)
        #expect(snapshots == before + 2)
        shared.stop()
        try await task.value
    }

    @Test func replacedRequestIsAnsweredAndTheOneBeforeIsNot() async throws {
        let shared = try start { $0.map(\.name) }
        var values = shared.values.makeAsyncIterator()
        #expect(try await values.next() == ["Lyon"])
        try shared.replaceRequest(Town.inLand("DE"))
        #expect(try await values.next() == ["Berlin"])
        // It is followed, and the one before is not.
        try await insert(3, "FR")
        let next = Task { [values] in
            var values = values
            return try await values.next()
        }
        try await insert(4, "DE")
        #expect(try await next.value == ["Berlin", "n4"])
        #expect(shared.request.predicate != nil)
        shared.stop()
    }

    @Test func valueOfAReplacedRequestThatIsUnderWayIsDropped() async throws {
        let (entered, entering) = AsyncStream<Void>.makeStream()
        let release = DispatchSemaphore(value: 0)
        let shared = try start { towns in
            if towns.first?.name == "Lyon" {
                entering.yield()
                release.wait()
            }
            return towns.map(\.name)
        }
        var values = shared.values.makeAsyncIterator()
        let first = Task { [values] in
            var values = values
            return try await values.next()
        }
        for await _ in entered { break }
        try shared.replaceRequest(Town.inLand("DE"))
        release.signal()
        #expect(try await first.value == ["Berlin"])
        #expect(try await values.next() == ["Berlin"])
        shared.stop()
    }

    @Test func refreshFetchesWithoutACommit() async throws {
        let shared = try start { $0.count }
        var values = shared.values.makeAsyncIterator()
        #expect(try await values.next() == 1)
        let before = snapshots
        shared.refresh()
        #expect(try await values.next() == 1)
        #expect(snapshots == before + 1)
        shared.stop()
    }

    @Test func errorOfTheMapEndsAllConsumers() async throws {
        struct Refused: Error {}
        let shared = try start { towns in
            if towns.count > 1 { throw Refused() }
            return towns.count
        }
        var one = shared.values.makeAsyncIterator()
        var other = shared.values.makeAsyncIterator()
        #expect(try await one.next() == 1)
        #expect(try await other.next() == 1)
        try await insert(3)
        await #expect(throws: Refused.self) { try await one.next() }
        await #expect(throws: Refused.self) { try await other.next() }
        #expect(try await one.next() == nil)
        #expect(!store.engine.bus.wantsImages)
    }

    @Test func storeThatIsClosedEndsAllConsumers() async throws {
        let shared = try start { $0.count }
        var values = shared.values.makeAsyncIterator()
        #expect(try await values.next() == 1)
        let next = Task { [values] in
            var values = values
            return try await values.next()
        }
        try store.close()
        #expect(try await next.value == nil)
        #expect(throws: StoreError.self) { try start { $0.count } }
    }

    @Test func releasedObservationLeavesNothingBehind() async throws {
        do {
            let shared = try start { $0.count }
            var values = shared.values.makeAsyncIterator()
            #expect(try await values.next() == 1)
            #expect(store.engine.bus.wantsImages)
        }
        #expect(!store.engine.bus.wantsImages)
    }

    // MARK: Options

    @Test func signalReadsNothing() async throws {
        var values = Town.inLand("FR").makeObserver().values(store).makeAsyncIterator()
        let before = store.engine.environment.readTotals
        #expect(try await values.next() != nil)
        try await insert(3)
        try await insert(4)
        #expect(try await values.next() != nil)
        try await insert(5, "DE")
        #expect(!values.isInvalid)
        try await insert(6)
        #expect(values.isInvalid)
        #expect(store.engine.environment.readTotals == before)
    }

    @Test func onlyChangesOfChosenFieldsCount() async throws {
        var values = Town.inLand("FR").makeObserver { $0.map(\.name) }.onlyChanges(of: \.name).values(store)
            .makeAsyncIterator()
        #expect(try await values.next() == ["Lyon"])
        func update(_ change: @escaping @Sendable (inout Town) -> Void) async throws -> Bool {
            try await store.write { tx in _ = try tx.update(Town.self, id: 1, change) }
            store.engine.bus.drain()
            guard values.isInvalid else { return false }
            _ = try await values.next()
            return true
        }
        #expect(try await !update { $0.population = 1 })
        #expect(try await update { $0.name = "Lugdunum" })
        // Out of the result, and in again.
        #expect(try await update { $0.land = Ref("DE") })
        #expect(try await update { $0.land = Ref("FR") })
        try await insert(3)
        #expect(values.isInvalid)
        var unknown = Town.inLand("FR").makeObserver { $0.count }.onlyChanges(of: \.name.count).values(store)
            .makeAsyncIterator()
        let error = await #expect(throws: StoreError.self) { try await unknown.next() }
        #expect(error?.code == .unknownField)
    }

    @Test func placeInTheOrderCountsWhateverFieldsAreChosen() async throws {
        var request = Town.inLand("FR")
        request.sortBy = [SortDescriptor(\.population)]
        var values = request.makeObserver { $0.count }.onlyChanges(of: \.name).values(store).makeAsyncIterator()
        #expect(try await values.next() == 1)
        try await store.write { tx in _ = try tx.update(Town.self, id: 1) { $0.population = 1 } }
        store.engine.bus.drain()
        #expect(values.isInvalid)
    }

    @Test func firstValueIsLeftOut() async throws {
        let asked = Counter()
        let observer = Town.inLand("FR").makeObserver { towns in
            asked.increment()
            return towns.count
        }.skippingFirst()
        let values = observer.values(store).makeAsyncIterator()
        let next = Task { [values] in
            var values = values
            return try await values.next()
        }
        while !store.engine.bus.wantsImages || store.engine.environment.readTotals.reads == 0 { await Task.yield() }
        while asked.value == 0 {
            try await insert(Int.random(in: 10...1_000_000_000))
            await Task.yield()
        }
        #expect(try await next.value ?? 0 > 1)
    }
}
