// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

@Suite struct ReopeningTests {
    private func options(_ round: Int) -> Store.Options {
        Store.Options(durability: .unsafe, readerLimit: 2 + round % 7)
    }

    @Test func aReleasedStoreOpensAtOnceWithOtherOptions() throws {
        try withTemporaryFolder { folder in
            for round in 0..<repetitions(200, thorough: 2_000) {
                _ = try Store.open(folder + "/S.roost", options: options(round), Storage.Note.self)
            }
        }
    }

    /// An idle thread of the pool kept what it had run last, and the store with it, for ten seconds.
    @Test func aStoreThatATaskHasUsedAndReleasedOpensWithOtherOptions() async throws {
        let place = TemporaryPlace()
        @Sendable func use(_ round: Int) async throws {
            let store = try await Store.open(at: place.url, options: options(round), entities: Storage.Note.self)
            try await store.write { tx in try tx.upsert(Storage.Note(id: round, text: "used")) }
            #expect(try await store.count(FetchDescriptor<Storage.Note>()) == round + 1)
            var counts = FetchDescriptor<Storage.Note>().makeCountObserver().values(store).makeAsyncIterator()
            #expect(try await counts.next() == round + 1)
            var mapped = FetchDescriptor<Storage.Note>().makeObserver { $0.count }.values(store).makeAsyncIterator()
            #expect(try await mapped.next() == round + 1)
        }
        for round in 0..<repetitions(30, thorough: 1_000) { try await use(round) }
    }

    @Test func aStoreThatIsBeingClosedIsWaitedFor() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let (engine, _) = try Engine.open(path: path, options: options(0), schemas: [])
            let (reading, closing) = (Signal(), Signal())
            try onThreads(3) { (thread) throws in
                switch thread {
                case 0:
                    try engine.environment.read { _ in
                        reading.send()
                        closing.wait()
                        // It cannot wait for its own end.
                        #expect(code(failure(of: { try Store.open(path, options: options(1)) })) == .storeBusy)
                    }
                case 1:
                    reading.wait()
                    // What `close` does, in two steps.
                    engine.announceRelease()
                    closing.send()
                    engine.release()
                default:
                    closing.wait()
                    let second = try Store.open(path, options: options(1), Storage.Note.self)
                    try second.close()
                }
            }
        }
    }

    @Test func aStoreInUseRefusesOtherOptionsAtOnce() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(path, options: options(0), Storage.Note.self)
            for _ in 0..<3 {
                // Another value of the same file that goes away changes nothing for the one that is kept.
                _ = try Store.open(path, options: options(0), Storage.Note.self)
                #expect(code(failure(of: { try Store.open(path, options: options(1)) })) == .alreadyOpen)
            }
            try store.close()
        }
    }
}
