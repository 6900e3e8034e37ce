// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Iterators and mapping closures that do what they had better not.
struct ObserverMisuseTests {
    let place = TemporaryPlace()
    let store: Store
    private let all = FetchDescriptor<Storage.Note>()

    init() throws {
        store = try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Storage.Note.self)
        try store.write { tx in try tx.insert(Storage.Note(id: 1, text: "a")) }
    }

    @Test func everyTaskThatWaitsIsWoken() async {
        let signal = ChangeSignal()
        signal.beginFetch()
        let tasks = (0..<5).map { _ in Task { await signal.wait() } }
        let cancelled = Task { await signal.wait() }
        while signal.waiters < 6 { await Task.yield() }
        cancelled.cancel()
        #expect(await cancelled.value == false)
        #expect(signal.waiters == 5)
        signal.invalidate(by: 1)
        for task in tasks { #expect(await task.value) }
        signal.endFetch(at: 1)
        let last = Task { await signal.wait() }
        while signal.waiters < 1 { await Task.yield() }
        signal.finish()
        #expect(await last.value == false)
    }

    @Test func anIteratorSharedByTwoTasksServesBothAndOnesEndIsNotTheOthers() async throws {
        var iterator = all.makeCountObserver().values(store).makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        let shared = Shared(iterator: iterator)
        let tasks = (0..<2).map { _ in
            Task { () -> Int? in
                var iterator = shared.iterator
                return try await iterator.next()
            }
        }
        tasks[0].cancel()
        #expect(try await tasks[0].value == nil)
        try await store.write { tx in try tx.insert(Storage.Note(id: 2, text: "b")) }
        #expect(try await tasks[1].value == 2)
        try await store.write { tx in try tx.insert(Storage.Note(id: 3, text: "c")) }
        #expect(try await iterator.next() == 3)
    }

    /// Unchecked: what the compiler forbids is the test.
    private struct Shared: @unchecked Sendable {
        let iterator: LiveObserver<Storage.Note, Int>.Iterator
    }

    @Test func nothingComesAfterTheEnd() async throws {
        let task = Task { [store, all] in
            var iterator = all.makeObserver { $0 }.values(store).makeAsyncIterator()
            let first = try await iterator.next()
            withUnsafeCurrentTask { $0?.cancel() }
            let second = try await iterator.next()
            let third = try await iterator.next()
            return [first?.count, second?.count, third?.count]
        }
        #expect(try await task.value == [1, nil, nil])
    }

    @Test func aMapThatCancelsItsTaskEndsTheSequence() async throws {
        let holder = Log<Task<Int?, any Error>>()
        let known = DispatchSemaphore(value: 0)
        let observer = all.makeObserver { notes in
            known.wait()
            holder.noted.first?.cancel()
            return notes.count
        }
        let task = Task { [store] () -> Int? in
            var iterator = observer.values(store).makeAsyncIterator()
            return try await iterator.next()
        }
        holder.note(task)
        known.signal()
        #expect(try await task.value == nil)
    }

    @Test func aMapMayWriteAndSeesItsWriteNext() async throws {
        let observer = all.makeObserver { [store] notes in
            if notes.count < 3 {
                try store.write { tx in try tx.insert(Storage.Note(id: notes.count + 1, text: "n")) }
            }
            return notes.count
        }
        var iterator = observer.values(store).makeAsyncIterator()
        for count in 1...3 { #expect(try await iterator.next() == count) }
    }

    @Test func aMapMayCloseTheStoreWhichEndsTheSequence() async throws {
        let observer = all.makeObserver { [store] notes in
            try store.close()
            return notes.count
        }
        var iterator = observer.values(store).makeAsyncIterator()
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test func closingTheStoreDoesNotWaitForAMapThatNeverReturns() async throws {
        let release = DispatchSemaphore(value: 0)
        let entered = AsyncStream<Void>.makeStream()
        let observer = all.makeObserver { notes in
            entered.continuation.yield()
            release.wait()
            return notes.count
        }
        let task = Task { [store] () -> Int? in
            var iterator = observer.values(store).makeAsyncIterator()
            return try await iterator.next()
        }
        for await _ in entered.stream { break }
        try store.close()
        #expect(try await task.value == nil)
        release.signal()
    }

    /// One that began while the store was being closed used to stay with the bus, and the two kept each other for ever.
    @Test func observersThatBeginWhileTheStoreIsClosedAreNotLeftBehind() throws {
        for _ in 0..<repetitions(30, thorough: 1_000) {
            let store = try Store.open(
                at: place.url, options: .init(durability: .unsafe), entities: Storage.Note.self)
            let bus = store.engine.bus
            let begun = DispatchSemaphore(value: 0)
            try onThreads(3) { thread in
                if thread == 0 {
                    for _ in 0..<2 { begun.wait() }
                    try store.close()
                } else {
                    begun.signal()
                    while true {
                        if thread == 1 {
                            if CommitBuffer(store: store) == nil { return }
                        } else {
                            guard
                                let observation = try? Subscription(
                                    store: store, wantsImages: true, effect: { _ in .none })
                            else { return }
                            if !store.isClosed { observation.close() }
                        }
                    }
                }
            }
            #expect(bus.pollInterval == nil && !bus.wantsImages)
        }
    }

    @Test func aCountIsFollowedWithoutBuildingAnObject() async throws {
        var iterator = all.makeCountObserver().values(store).makeAsyncIterator()
        let before = store.engine.environment.readTotals.counters.recordsRead
        #expect(try await iterator.next() == 1)
        try await store.write { tx in try tx.insert(Storage.Note(id: 2, text: "b")) }
        #expect(try await iterator.next() == 2)
        #expect(store.engine.environment.readTotals.counters.recordsRead == before)
    }
}
