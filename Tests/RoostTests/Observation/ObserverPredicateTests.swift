// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

@Entity private struct Dial: Equatable {
    var id: Int
    var place: String
    var value: Int
    var note = ""

    /// Whatever the test says.
    var isHigh: Bool { Probes.all.withLock { $0[place] }?(value) ?? false }
}

/// What a dial's property runs, by the dial's place: tests run side by side.
private enum Probes {
    static let all = Mutex<[String: @Sendable (Int) -> Bool]>([:])
}

/// Predicates that run code of the program's, which may do anything.
struct ObserverPredicateTests {
    let folder = TemporaryPlace()
    let store: Store
    let place = UUID().uuidString
    private let high: FetchDescriptor<Dial>

    init() throws {
        store = try Store.open(at: folder.url, options: .init(durability: .unsafe), entities: Dial.self)
        high = FetchDescriptor<Dial>(predicate: #Predicate { $0.isHigh })
    }

    private func probe(_ body: @escaping @Sendable (Int) -> Bool) {
        Probes.all.withLock { $0[place] = body }
    }

    private func insert(_ id: Int, _ value: Int, note: String = "") async throws {
        try await store.write { [place] tx in try tx.insert(Dial(id: id, place: place, value: value, note: note)) }
    }

    /// One that has fetched, and is fetched for by nobody.
    private func observation(_ request: FetchDescriptor<Dial>) throws -> Subscription {
        let binding = try store.binding(of: Dial.self)
        let filter = CommitFilter(entity: binding.entity, request: try LoweredRequest(request, binding))
        let observation = try Subscription(store: store, wantsImages: true) { filter.effect(of: $0) }
        fetch(observation)
        return observation
    }

    private func fetch(_ observation: Subscription) {
        observation.signal.beginFetch()
        store.engine.bus.wake(observation)
        observation.signal.endFetch(at: (try? store.read { try $0.sequence() }) ?? 0)
    }

    /// Whether the commits so far have made the observation fetch again.
    private func hasFired(_ observation: Subscription) async -> Bool {
        store.engine.bus.drain()
        while !observation.matching.isIdle { await Task.yield() }
        return !observation.signal.isOpen(.max)
    }

    /// It used to run on the bus's thread, so that nobody heard of a commit any more, and closing never returned.
    @Test func predicateThatNeverReturnsHoldsUpItsOwnObserverAlone() async throws {
        let release = Signal()
        let (entered, entering) = AsyncStream<Void>.makeStream()
        probe { value in
            guard value == 13 else { return value > 0 }
            entering.yield()
            release.wait()
            return true
        }
        var others = FetchDescriptor<Dial>().makeCountObserver().values(store).makeAsyncIterator()
        var commits = store.commits().makeAsyncIterator()
        var blocked = high.makeCountObserver().values(store).makeAsyncIterator()
        #expect(try await others.next() == 0)
        #expect(try await blocked.next() == 0)
        let waiting = Task { [blocked] in
            var blocked = blocked
            return try await blocked.next()
        }
        try await insert(1, 13)
        for await _ in entered { break }
        #expect(try await others.next() == 1)
        try await insert(2, 1)
        #expect(try await others.next() == 2)
        #expect(await commits.next()?.sequence == 1)
        #expect(await commits.next()?.sequence == 2)
        // Nor is closing held up, and what runs keeps nothing open.
        try store.close()
        #expect(try await waiting.value == nil)
        #expect(try await others.next() == nil)
        release.send()
    }

    @Test func predicatesRunNeitherOnTheBusNorOnTheWriter() async throws {
        let threads = Log<String>()
        probe { value in
            threads.note(Thread.current.name ?? "")
            return value > 0
        }
        let observation = try observation(high)
        try await insert(1, 1)
        #expect(await hasFired(observation))
        try await store.write { tx in _ = try tx.delete(Dial.self, id: 1) }
        #expect(Set(threads.noted) == ["roost.map"])
        observation.close()
    }

    @Test func observerFiresIfAndOnlyIfAnObjectMatchesBeforeOrAfter() async throws {
        probe { $0 > 10 }
        let observation = try observation(high)
        try await insert(1, 5)
        #expect(await !hasFired(observation))
        try await store.write { tx in _ = try tx.update(Dial.self, id: 1) { $0.value = 6 } }
        #expect(await !hasFired(observation))
        let changes: [@Sendable (borrowing WriteTransaction) throws -> Void] = [
            { _ = try $0.update(Dial.self, id: 1) { $0.value = 11 } },
            { _ = try $0.update(Dial.self, id: 1) { $0.value = 12 } },
            { _ = try $0.update(Dial.self, id: 1) { $0.value = 3 } },
            { [place] in try $0.insert(Dial(id: 2, place: place, value: 20)) },
            { _ = try $0.delete(Dial.self, id: 2) },
        ]
        for change in changes {
            try await store.write { tx in try change(tx) }
            #expect(await hasFired(observation))
            fetch(observation)
            #expect(await !hasFired(observation))
        }
        try await store.write { tx in _ = try tx.delete(Dial.self, id: 1) }
        #expect(await !hasFired(observation))
        observation.close()
    }

    /// What the record alone answers is answered where the commit is delivered.
    @Test func codeOfTheProgramsRunsOnlyWhereItDecides() async throws {
        let calls = Counter()
        probe { _ in
            calls.increment()
            return true
        }
        let both = try observation(FetchDescriptor(predicate: #Predicate { $0.value > 10 && $0.isHigh }))
        let either = try observation(FetchDescriptor(predicate: #Predicate { $0.value > 10 || $0.isHigh }))
        try await insert(1, 5)
        #expect(await !hasFired(both))
        #expect(await hasFired(either))
        #expect(calls.value == 1)
        fetch(either)
        try await insert(2, 50)
        #expect(await hasFired(both))
        #expect(await hasFired(either))
        #expect(calls.value == 2)
        both.close()
        either.close()
    }

    @Test func predicateThatFailsOnAnObjectFiresAndTheFetchTells() async throws {
        probe { $0 > 0 }
        let request = FetchDescriptor<Dial>(predicate: #Predicate { $0.value + 1 > 100 })
        var values = request.makeCountObserver().values(store).makeAsyncIterator()
        #expect(try await values.next() == 0)
        try await insert(1, .max)
        let error = await failure { try await values.next() }
        #expect((error as? StoreError)?.code == .predicateFailed)
    }

    @Test func whatWaitsForAPredicateIsBoundedAndBeyondThatAnythingMayHaveChanged() async throws {
        let release = Signal()
        let (entered, entering) = AsyncStream<Void>.makeStream()
        let calls = Counter()
        probe { value in
            calls.increment()
            if value == 13 {
                entering.yield()
                release.wait()
            }
            return false
        }
        let observation = try observation(high)
        try await insert(1, 13)
        for await _ in entered { break }
        // 4 MB of records.
        for id in 2..<42 { try await insert(id, 0, note: String(repeating: "n", count: 100_000)) }
        store.engine.bus.drain()
        #expect(observation.matching.byteCount <= PendingMatches.byteLimit)
        #expect(observation.signal.isOpen(.max))
        release.send()
        #expect(await hasFired(observation))
        #expect(observation.matching.byteCount == 0)
        #expect(calls.value < 12)
        // One that is too large by itself.
        fetch(observation)
        let before = calls.value
        try await insert(50, 0, note: String(repeating: "n", count: 2_000_000))
        #expect(await hasFired(observation))
        #expect(calls.value == before)
        observation.close()
    }

    @Test func aThousandSuchObserversOfWhichSomeNeverReturn() async throws {
        let release = Signal()
        let stuck = Counter()
        let evaluations = Counter()
        probe { value in
            guard value == 13, Thread.current.name == "roost.map" else { return value == 13 }
            evaluations.increment()
            // Every hundredth.
            if evaluations.value % 100 == 50 {
                stuck.increment()
                release.wait()
            }
            return true
        }
        let observations = try (0..<1_000).map { _ in try observation(high) }
        var others = FetchDescriptor<Dial>().makeCountObserver().values(store).makeAsyncIterator()
        #expect(try await others.next() == 0)
        try await insert(1, 13)
        #expect(try await others.next() == 1)
        while observations.count(where: { $0.matching.isIdle }) < 1_000 - stuck.value || evaluations.value < 1_000 {
            await Task.yield()
        }
        #expect(observations.count { !$0.signal.isOpen(.max) } >= 980)
        for observation in observations { observation.close() }
        release.send()
    }

    /// Delivered late, it used to make the observer fetch the same state again.
    @Test func commitThatAFetchHasSeenDoesNotFireWhenItIsToldAfterwards() {
        let signal = ChangeSignal()
        signal.beginFetch()
        signal.endFetch(at: 7)
        signal.invalidate(by: 7)
        #expect(signal.isOpen(8) && !signal.isOpen(7))
        signal.invalidate(by: 8)
        #expect(!signal.isOpen(9))
        signal.beginFetch()
        // It may not see this one.
        #expect(signal.isOpen(9))
        signal.invalidate(by: 9)
        signal.endFetch(at: 8)
        #expect(!signal.isOpen(10))
    }
}
