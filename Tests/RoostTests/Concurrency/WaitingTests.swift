// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Who waits for a place among the readers, or for the writer, and whom others' threads hold up.
struct WaitingTests {
    let place = TemporaryPlace()

    private func open(readerLimit: Int = 32) throws -> Store {
        let options = Store.Options(durability: .unsafe, readerLimit: readerLimit)
        let store = try Store.open(at: place.url, options: options, entities: Storage.Note.self)
        try store.write { tx in
            for id in 1...50 { try tx.insert(Storage.Note(id: id, text: "t")) }
        }
        return store
    }

    private let all = FetchDescriptor<Storage.Note>()

    /// Holds something until it is released, on a thread of its own.
    private func holding(_ body: @escaping @Sendable (_ wait: () -> Void) throws -> Void) async -> Signal {
        let release = Signal()
        let (held, holding) = AsyncStream<Void>.makeStream()
        Thread.detachNewThread {
            do {
                try body {
                    holding.yield()
                    release.wait()
                }
            } catch {
                Issue.record(error)
            }
        }
        for await _ in held { break }
        return release
    }

    @Test func aReadThatWaitsForAPlaceLeavesWhenItIsCancelled() async throws {
        let store = try open(readerLimit: 1)
        let release = await holding { wait in try store.read { _ in wait() } }
        let asynchronous = Task { [all] in try await store.fetch(all) }
        let values = all.makeObserver { $0 }.values(store)
        let observer = Task { () -> Int? in
            var iterator = values.makeAsyncIterator()
            return try await iterator.next()?.count
        }
        let synchronous = Task(executorPreference: OwnThreadExecutor()) { [all] in try { try store.fetch(all) }() }
        asynchronous.cancel()
        synchronous.cancel()
        observer.cancel()
        #expect(await failure(awaiting: { try await asynchronous.value }) is CancellationError)
        #expect(await failure(awaiting: { try await synchronous.value }) is CancellationError)
        #expect(try await observer.value == nil)
        release.send()
        #expect(try await store.count(all) == 50)
    }

    @Test func aWriteThatWaitsForTheWriterLeavesWhenItIsCancelled() async throws {
        let store = try open()
        let release = await holding { wait in try store.write { _ in wait() } }
        let asynchronous = Task {
            try await store.write { tx in try tx.insert(Storage.Note(id: 100, text: "late")) }
        }
        let synchronous = Task(executorPreference: OwnThreadExecutor()) {
            try { try store.write { tx in try tx.insert(Storage.Note(id: 101, text: "late")) } }()
        }
        while store.engine.writer.waiting < 2 { await Task.yield() }
        asynchronous.cancel()
        synchronous.cancel()
        #expect(await failure(awaiting: { try await asynchronous.value }) is CancellationError)
        #expect(await failure(awaiting: { try await synchronous.value }) is CancellationError)
        #expect(store.engine.writer.waiting == 0)
        release.send()
        try await store.write { tx in try tx.insert(Storage.Note(id: 102, text: "in time")) }
        #expect(try await store.ids(all).filter { $0 > 50 } == [102])
    }

    @Test func aWriteThatWaitsForAnotherProcessLeavesWhenItIsCancelled() async throws {
        let store = try open()
        let other = try HelperProcess(["write", place.url.path])
        #expect(other.line() == "ready")
        let tasks = (0..<3).map { number in
            Task { try await store.write { tx in try tx.insert(Storage.Note(id: 100 + number, text: "late")) } }
        }
        // One of them is waiting in LMDB, the others for it.
        while store.engine.writer.waiting < 2 { await Task.yield() }
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await failure(awaiting: { try await task.value }) is CancellationError) }
        #expect(other.finish() == 0)
        try await store.write { tx in try tx.insert(Storage.Note(id: 200, text: "in time")) }
        #expect(try await store.ids(all).filter { (51..<1_000).contains($0) } == [200])
    }

    @Test func writesRunInTheOrderOfAskingOnWhicheverThread() async throws {
        let store = try open()
        let release = await holding { wait in try store.write { _ in wait() } }
        let order = Log<Int>()
        let done = AsyncStream<Void>.makeStream()
        for number in 0..<10 {
            if number % 2 == 0 {
                Thread.detachNewThread {
                    try? store.write { _ in order.note(number) }
                    done.continuation.yield()
                }
            } else {
                Task {
                    try await store.write { _ in order.note(number) }
                    done.continuation.yield()
                }
            }
            while store.engine.writer.waiting <= number { await Task.yield() }
        }
        release.send()
        var ended = 0
        for await _ in done.stream {
            ended += 1
            if ended == 10 { break }
        }
        #expect(order.noted == Array(0..<10))
    }

    @Test func aFetchGoesBeforeAllObserversThatAreStarting() async throws {
        let store = try open(readerLimit: 1)
        let release = DispatchSemaphore(value: 0)
        let began = AsyncStream<Void>.makeStream()
        let blocking = Task {
            try await store.read { _ in
                began.continuation.yield()
                release.wait()
            }
        }
        for await _ in began.stream { break }
        let observer = all.makeCountObserver()
        let observers = (0..<200).map { _ in
            Task { () -> Int? in
                var iterator = observer.values(store).makeAsyncIterator()
                return try await iterator.next()
            }
        }
        while store.engine.readers.waiting < 200 { await Task.yield() }
        // With one thread: none of the observers has fetched when the user's read runs.
        let reads = store.engine.environment.readTotals.reads
        let fetch = Task { try await store.read { _ in store.engine.environment.readTotals.reads } }
        while store.engine.readers.waiting < 201 { await Task.yield() }
        release.signal()
        try await blocking.value
        // The blocking read has ended, and nobody else's.
        #expect(try await fetch.value == reads + 1)
        for task in observers { #expect(try await task.value == 50) }
    }

    @Test(.enabled(if: !isSanitized, "a thousand threads are more than a sanitizer carries"))
    func mapsThatNeverReturnAndBlockedDispatchThreadsHoldUpNobodyElse() async throws {
        let store = try open()
        let release = DispatchSemaphore(value: 0)
        let entered = Counter()
        let dispatched = 260
        for number in 0..<dispatched { DispatchQueue(label: "test.\(number)").async { release.wait() } }
        let stuck = all.makeObserver { notes in
            entered.increment()
            release.wait()
            return notes.count
        }
        let tasks = (0..<600).map { _ in
            Task { () -> Int? in
                var iterator = stuck.values(store).makeAsyncIterator()
                return try await iterator.next()
            }
        }
        while entered.value < 255 { await Task.yield() }
        try await store.write { tx in try tx.insert(Storage.Note(id: 100, text: "new")) }
        try { try store.write { tx in try tx.insert(Storage.Note(id: 101, text: "new")) } }()
        #expect(try await store.fetch(all).count == 52)
        var counts = all.makeCountObserver().values(store).makeAsyncIterator()
        #expect(try await counts.next() == 52)
        let other = TemporaryPlace()
        let second = try await Store.open(at: other.url, entities: Storage.Note.self)
        var mapped = all.makeObserver { $0.count }.values(second).makeAsyncIterator()
        #expect(try await mapped.next() == 0)
        // Those that never come back are left behind at once.
        for task in tasks[..<300] { task.cancel() }
        for task in tasks[..<300] { #expect(try await task.value == nil) }
        for _ in 0..<(600 + dispatched) { release.signal() }
        for task in tasks[300...] { #expect(try await task.value != nil) }
    }
}
