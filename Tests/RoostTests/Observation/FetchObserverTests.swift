// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import Testing

@testable import Roost

/// Each test drives one iterator by hand: a value is fetched when it is asked for, so nothing needs to be waited for.
struct FetchObserverTests {
    let place = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Town.self, Land.self)
        try store.write { tx in
            try tx.insert(contentsOf: [
                Town(id: 1, name: "Lyon", land: Ref("FR"), population: 500),
                Town(id: 2, name: "Berlin", land: Ref("DE"), population: 3_500),
            ])
        }
    }

    private var totals: ReadTotals { store.engine.environment.readTotals }

    private func insert(_ town: Town) async throws { try await store.write { tx in try tx.insert(town) } }

    @Test func firstValueIsThePresentResult() async throws {
        var values = Town.inLand("FR").makeObserver { $0.map(\.name) }.values(store).makeAsyncIterator()
        #expect(try await values.next() == ["Lyon"])
    }

    @Test func insertUpdateAndDeleteOfAMatchFire() async throws {
        var values = Town.inLand("FR").makeObserver { $0.map(\.name) }.values(store).makeAsyncIterator()
        #expect(try await values.next() == ["Lyon"])
        try await insert(Town(id: 3, name: "Nice", land: Ref("FR"), population: 300))
        #expect(try await values.next() == ["Lyon", "Nice"])
        try await store.write { tx in _ = try tx.update(Town.self, id: 1) { $0.name = "Lugdunum" } }
        #expect(try await values.next() == ["Lugdunum", "Nice"])
        try await store.write { tx in _ = try tx.delete(Town.self, id: 3) }
        #expect(try await values.next() == ["Lugdunum"])
    }

    @Test func objectThatMovesInOrOutFires() async throws {
        var values = Town.inLand("FR").makeObserver { $0.map(\.id) }.values(store).makeAsyncIterator()
        #expect(try await values.next() == [1])
        try await store.write { tx in _ = try tx.update(Town.self, id: 2) { $0.land = Ref("FR") } }
        #expect(try await values.next() == [1, 2])
        try await store.write { tx in _ = try tx.update(Town.self, id: 1) { $0.land = Ref("DE") } }
        #expect(try await values.next() == [2])
    }

    @Test func commitThatDoesNotConcernTheFetchReadsNothing() async throws {
        let observation = try matchCounter(Town.inLand("FR"))
        let before = totals
        // Another country, another entity, and a change that is taken back.
        try await insert(Town(id: 3, name: "Bonn", land: Ref("DE"), population: 300))
        try await store.write { tx in try tx.insert(Land(id: "FR", name: "France")) }
        try await store.write { tx in
            try tx.update(Town.self, id: 1) { $0.population = 1 }
            try tx.update(Town.self, id: 1) { $0.population = 500 }
        }
        store.engine.bus.drain()
        #expect(observation.matches == 0)
        #expect(totals == before)
        try await store.write { tx in _ = try tx.update(Town.self, id: 1) { $0.population = 1 } }
        store.engine.bus.drain()
        #expect(observation.matches == 1)
        observation.close()
    }

    /// Counts what the observer's filter lets through, with no iterator that would fetch.
    private func matchCounter(_ request: FetchDescriptor<Town>) throws -> MatchCounter {
        let binding = try store.binding(of: Town.self)
        let filter = CommitFilter(entity: binding.entity, request: try LoweredRequest(request, binding))
        let counter = MatchCounter(filter, store.engine.bus)
        store.engine.bus.subscribe(counter)
        return counter
    }

    @Test func valueSkipsStatesButNeverTheLast() async throws {
        var values = Town.inLand("FR").makeObserver { $0.count }.values(store).makeAsyncIterator()
        #expect(try await values.next() == 1)
        for id in 10..<60 { try await insert(Town(id: id, name: "n", land: Ref("FR"), population: id)) }
        store.engine.bus.drain()
        let before = totals.reads
        #expect(try await values.next() == 51)
        #expect(totals.reads == before + 1)
    }

    @Test func commitThatTheSnapshotHoldsDoesNotFireAgain() async throws {
        var values = Town.inLand("FR").makeObserver { $0.count }.values(store).makeAsyncIterator()
        #expect(try await values.next() == 1)
        try await insert(Town(id: 3, name: "Nice", land: Ref("FR"), population: 300))
        try await insert(Town(id: 4, name: "Brest", land: Ref("FR"), population: 100))
        store.engine.bus.drain()
        #expect(try await values.next() == 3)
        // Nothing is left to look at: the next value comes with the next commit only.
        let following = Task { [values] in
            var values = values
            return try await values.next()
        }
        try await insert(Town(id: 5, name: "Metz", land: Ref("FR"), population: 100))
        #expect(try await following.value == 4)
    }

    @Test func cancellationEndsTheIterationAndLeavesNothingBehind() async throws {
        let observer = Town.inLand("FR").makeObserver { $0.count }
        let (first, started) = AsyncStream<Int>.makeStream()
        let task = Task { [store] in
            var count = 0
            for try await value in observer.values(store) {
                count += 1
                started.yield(value)
            }
            return count
        }
        for await value in first {
            #expect(value == 1)
            break
        }
        task.cancel()
        #expect(try await task.value == 1)
        #expect(store.engine.environment.oldestReader == nil)
        #expect(!store.engine.bus.wantsImages)
        // A new iteration begins anew.
        var again = observer.values(store).makeAsyncIterator()
        #expect(try await again.next() == 1)
    }

    @Test func mapThatNeverEndsDoesNotKeepCancellationWaiting() async throws {
        let release = DispatchSemaphore(value: 0)
        let (entered, entering) = AsyncStream<Void>.makeStream()
        let observer = Town.inLand("FR").makeObserver { towns in
            entering.yield()
            release.wait()
            return towns.count
        }
        let task = Task { [store] in
            for try await _ in observer.values(store) { Issue.record("a value after cancellation") }
        }
        for await _ in entered { break }
        task.cancel()
        try await task.value
        #expect(store.engine.environment.oldestReader == nil)
        release.signal()
    }

    @Test func errorOfTheMapPassesThroughAndEndsTheSequence() async throws {
        struct Refused: Error {}
        var values = Town.inLand("FR").makeObserver { _ -> Int in throw Refused() }.values(store).makeAsyncIterator()
        await #expect(throws: Refused.self) { try await values.next() }
        #expect(try await values.next() == nil)
    }

    @Test func closingTheStoreEndsTheSequence() async throws {
        let values = Town.inLand("FR").makeObserver { $0.count }.values(store)
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        let following = Task { [iterator] in
            var iterator = iterator
            return try await iterator.next()
        }
        try store.close()
        #expect(try await following.value == nil)
        var late = values.makeAsyncIterator()
        await #expect(throws: StoreError.self) { try await late.next() }
    }

    @Test func entityThatTheStoreWasNotOpenedWithIsAnError() async throws {
        let other = TemporaryPlace()
        let lands = try await Store.open(at: other.url, entities: Land.self)
        var values = Town.inLand("FR").makeObserver { $0 }.values(lands).makeAsyncIterator()
        await #expect {
            try await values.next()
        } throws: {
            ($0 as? StoreError)?.code == .unknownEntity && ($0 as? StoreError)?.place.entity == "Town"
        }
    }

    @Test func writeIsSeenByTheNextValueOfEveryObserver() async throws {
        let observer = FetchDescriptor<Town>().makeObserver { $0.count }
        var iterators = (0..<20).map { _ in observer.values(store).makeAsyncIterator() }
        for index in iterators.indices { #expect(try await iterators[index].next() == 2) }
        try await insert(Town(id: 9, name: "Ulm", land: Ref("DE"), population: 120))
        for index in iterators.indices { #expect(try await iterators[index].next() == 3) }
    }

    /// The shape of a view's model: a main-actor class that a task feeds.
    @Test func valuesArriveOnTheMainActor() async throws {
        let model = await Model()
        let task = Task { try await model.follow(Town.inLand("FR").makeObserver { $0.map(\.name) }, store) }
        await model.wait { $0 == ["Lyon"] }
        try await insert(Town(id: 3, name: "Nice", land: Ref("FR"), population: 300))
        await model.wait { $0 == ["Lyon", "Nice"] }
        task.cancel()
        try await task.value
    }
}

@MainActor private final class Model {
    private var names: [String] = []
    private var waiter: (condition: ([String]) -> Bool, continuation: CheckedContinuation<Void, Never>)?

    func follow(_ observer: FetchObserver<Town, [String]>, _ store: Store) async throws {
        for try await names in observer.values(store) {
            MainActor.assertIsolated()
            self.names = names
            if let waiter, waiter.condition(names) {
                self.waiter = nil
                waiter.continuation.resume()
            }
        }
    }

    func wait(_ condition: @escaping ([String]) -> Bool) async {
        if condition(names) { return }
        await withCheckedContinuation { waiter = (condition, $0) }
    }
}

private final class MatchCounter: CommitSubscriber {
    private let filter: CommitFilter
    private let bus: Bus
    private let signal = ChangeSignal()
    let wantsImages = true
    private let count = Counter()

    init(_ filter: CommitFilter, _ bus: Bus) {
        self.filter = filter
        self.bus = bus
    }

    var matches: Int { count.value }
    func receive(_ commit: CommitRecord) {
        if case .change = filter.effect(of: commit) { count.increment() }
    }
    func close() { bus.unsubscribe(self) }
}
