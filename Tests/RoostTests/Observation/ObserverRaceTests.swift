// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// Observations that begin and end while everything else happens: nothing waits for ever, nothing is left behind, and no last
/// value is lost.
struct ObserverRaceTests {
    private let rounds = repetitions(20, thorough: 1_000)

    /// A store of a hundred notes with as few readers as given.
    private func withStore(readers: Int = 2, _ body: (Store) async throws -> Void) async throws {
        let place = TemporaryPlace()
        let store = try await Task {
            try Store.open(
                at: place.url, options: .init(durability: .unsafe, readerLimit: readers), entities: Storage.Note.self)
        }.value
        try await store.write { tx in
            for id in 0..<100 { try tx.insert(Storage.Note(id: id, text: "0")) }
        }
        try await body(store)
        try store.close()
    }

    private func text(of id: Int) -> FetchDescriptor<Storage.Note> {
        FetchDescriptor(predicate: #Predicate { $0.id == id })
    }

    /// Nobody is told any more, no snapshot is open.
    private func expectNothingLeft(_ store: Store, _ seed: UInt64) {
        #expect(store.engine.bus.pollInterval == nil, "somebody still follows, ROOST_TEST_SEED=\(seed)")
        #expect(store.engine.environment.oldestReader == nil, "a snapshot is open, ROOST_TEST_SEED=\(seed)")
    }

    @Test func startAndCancellationRaceWithLongWrites() async throws {
        var random = SeededGenerator()
        try await withStore { store in
            for round in 1...rounds {
                let (writing, release) = (Signal(), Signal())
                let write = Task {
                    try await store.write { tx in
                        for id in 0..<50 { try tx.update(Storage.Note.self, id: id) { $0.text = "\(round)" } }
                        writing.send()
                        release.wait()
                        for id in 50..<100 { try tx.update(Storage.Note.self, id: id) { $0.text = "\(round)" } }
                    }
                }
                await Task.detached { writing.wait() }.value
                let tasks = (0..<20).map { id in
                    Task {
                        for try await texts in text(of: id * 5).makeObserver({ $0.map(\.text) }).values(store)
                        where texts == ["\(round)"] { return true }
                        return false
                    }
                }
                let cancelled = Set((0..<8).map { _ in Int.random(in: 0..<20, using: &random) })
                for id in cancelled.prefix(4) { tasks[id].cancel() }
                for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
                release.send()
                for id in cancelled.dropFirst(4) { tasks[id].cancel() }
                try await write.value
                for (id, task) in tasks.enumerated() {
                    let hasSeen = try await task.value
                    #expect(hasSeen || cancelled.contains(id), "round \(round), ROOST_TEST_SEED=\(random.seed)")
                }
                expectNothingLeft(store, random.seed)
            }
        }
    }

    @Test func aStoreIsClosedInAnyPhaseOfAnObservation() async throws {
        var random = SeededGenerator()
        for _ in 1...rounds {
            try await withStore { store in
                let resolver = try store.resolver(for: Storage.Note.self)
                resolver.resolve(0..<10)
                var tasks: [Task<Void, any Error>] = []
                for id in 0..<6 {
                    let observer = text(of: id).makeObserver { $0.map(\.text) }
                    tasks.append(
                        Task {
                            do {
                                for try await _ in observer.values(store) {}
                            } catch let error as StoreError where error.code == .storeClosed {
                                // It began when the store was closed already.
                            }
                        })
                }
                tasks.append(Task { for await _ in resolver.values {} })
                tasks.append(Task { for await _ in store.commits() {} })
                let writer = Task {
                    for number in 1...20 {
                        do {
                            try await store.write { tx in
                                try tx.update(Storage.Note.self, id: number % 6) { $0.text = "\(number)" }
                            }
                        } catch let error as StoreError where error.code == .storeClosed {
                            return
                        }
                    }
                }
                for _ in 0..<Int.random(in: 0..<200, using: &random) { await Task.yield() }
                try await Task.detached { try store.close() }.value
                for task in tasks { try await task.value }
                try await writer.value
            }
        }
    }

    @Test func anObserverIsCancelledInsideItsOwnHandler() async throws {
        try await withStore { store in
            for round in 1...rounds {
                let values = Counter()
                let task = Task {
                    for try await _ in text(of: 1).makeObserver({ $0.first?.text }).values(store) {
                        values.increment()
                        withUnsafeCurrentTask { $0?.cancel() }
                        // It matches, and nobody may get it. A cancelled task does not write.
                        _ = try await Task.detached {
                            try await store.write { tx in
                                try tx.update(Storage.Note.self, id: 1) { $0.text = "\(round)" }
                            }
                        }.value
                    }
                }
                try await task.value
                #expect(values.value == 1)
            }
            expectNothingLeft(store, 0)
        }
    }

    /// Each handler changes the object that its observer follows, ten times: a value for each change, and none for the others'.
    @Test func aHundredObserversWhoseHandlersWriteConvergeWithoutQuadraticWork() async throws {
        try await withStore(readers: 8) { store in
            let values = Counter()
            let before = store.readCounters
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 0..<100 {
                    group.addTask {
                        for try await texts in text(of: id).makeObserver({ $0.map(\.text) }).values(store) {
                            values.increment()
                            guard let number = texts.first.flatMap({ Int($0) }), number < 10 else { return }
                            try await store.write { tx in
                                try tx.update(Storage.Note.self, id: id) { $0.text = "\(number + 1)" }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(values.value == 100 * 11)
            let cost = store.readCounters - before
            #expect(cost.recordsRead == 100 * 11)
            #expect(try await store.fetch(FetchDescriptor<Storage.Note>()).allSatisfy { $0.text == "10" })
            expectNothingLeft(store, 0)
        }
    }

    @Test func aMapThatThrowsEndsItsObservationAlone() async throws {
        struct Refusal: Error {}
        try await withStore { store in
            for round in 1...rounds {
                var sound = text(of: 2).makeObserver { $0.first?.text }.values(store).makeAsyncIterator()
                _ = try await sound.next()
                let failing = Task {
                    for try await _ in text(of: 2).makeObserver({ notes in
                        if notes.first?.text == "\(round)" { throw Refusal() }
                    }).values(store) {}
                }
                try await store.write { tx in try tx.update(Storage.Note.self, id: 2) { $0.text = "\(round)" } }
                let error = await failure(awaiting: { try await failing.value })
                #expect(error is Refusal)
                #expect(try await sound.next() == "\(round)")
            }
            expectNothingLeft(store, 0)
        }
    }
}
