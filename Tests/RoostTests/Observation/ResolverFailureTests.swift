// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

struct ResolverFailureTests {
    let place = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Storage.Note.self)
        try store.write { tx in
            for id in 1...300 { try tx.insert(Storage.Note(id: id, text: "t\(id)")) }
        }
    }

    private func rename(_ id: Int) async throws {
        try await store.write { tx in _ = try tx.update(Storage.Note.self, id: id) { $0.text += "!" } }
    }

    @Test func anObjectThatCannotBeDecodedIsLeftOutAndToldOnceAndNothingSpins() async throws {
        let record = try #require(try store.record("Note", 150))
        try store.overwrite("Note", 150, with: [1, 2, 3])
        let resolver = try store.resolver(for: Storage.Note.self, chunkSize: 100)
        var errors = resolver.errors.makeAsyncIterator()
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve(1...300)
        #expect(await values.next()?.map(\.id) == Array(1...149) + Array(151...300))
        let error = try #require(await errors.next())
        #expect(error.code == .damaged && error.place.id == "150")
        // Another object's change brings the others again, and no further word of it.
        let reads = store.engine.environment.readTotals.reads
        try await rename(7)
        #expect(await values.next()?.count == 299)
        #expect(store.engine.environment.readTotals.reads == reads + 1)
        try store.overwrite("Note", 150, with: record)
        try await rename(150)
        #expect(await values.next()?.count == 300)
        // It is told again when it happens again.
        try store.overwrite("Note", 150, with: [1, 2, 3])
        try store.overwrite("Note", 151, with: [1, 2, 3])
        try await rename(8)
        // What has not changed is not read again, and is as it was read.
        #expect(await values.next()?.count == 300)
        var others = resolver.values.makeAsyncIterator()
        #expect(await others.next()?.count == 298)
        #expect(await errors.next()?.place.id == "150")
        #expect(await errors.next()?.place.id == "151")
    }

    @Test func aFetchThatFailsIsTriedAgainAfterAWhileAndToldOnce() async throws {
        let clock = ManualClock()
        let resolver = Resolver<Storage.Note>(store: store, order: .asRequested, chunkSize: 100, clock: clock)
        var errors = resolver.errors.makeAsyncIterator()
        resolver.resolve([1, 2])
        let sequence = try overwriteSequence(with: [0xFF])
        let reads = store.engine.environment.readTotals.reads
        let first = Task {
            var values = resolver.values.makeAsyncIterator()
            return await values.next()?.count
        }
        for (attempt, delay) in [100, 200, 400, 800].enumerated() {
            #expect(await clock.nextSleep() == .milliseconds(delay))
            #expect(store.engine.environment.readTotals.reads == reads + attempt + 1)
            if delay < 800 { clock.wake() }
        }
        #expect(await errors.next()?.code == .damaged)
        _ = try overwriteSequence(with: sequence)
        clock.wake()
        #expect(await first.value == 2)
    }

    @Test func aFetchThatFailsIsTriedAgainWithANewListAndEndsWhenItIsCancelled() async throws {
        let clock = ManualClock()
        let resolver = Resolver<Storage.Note>(store: store, order: .asRequested, chunkSize: 100, clock: clock)
        resolver.resolve([1, 2])
        let sequence = try overwriteSequence(with: [0xFF])
        let (seen, seeing) = AsyncStream<Int>.makeStream()
        let task = Task {
            for await value in resolver.values { seeing.yield(value.count) }
        }
        #expect(await clock.nextSleep() == .milliseconds(100))
        resolver.resolve([1, 2, 3])
        #expect(await clock.nextSleep() == .milliseconds(200))
        _ = try overwriteSequence(with: sequence)
        resolver.resolve([1, 2, 3, 4])
        for await count in seen {
            #expect(count == 4)
            break
        }
        task.cancel()
        await task.value
    }

    /// Puts bytes in the place of the last commit's number, and gives what was there.
    private func overwriteSequence(with bytes: [UInt8]) throws -> [UInt8] {
        let main = store.engine.main
        return try store.engine.environment.write { transaction in
            let before = try main.get(.sequence, in: transaction).map { Array($0) } ?? []
            try main.put(.sequence, bytes, in: transaction)
            return before
        }
    }
}
