// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

@Entity private struct Consignment {
    var id: Number
    var text: String

    /// Compares by code of the program's.
    struct Number: RawRepresentable, Hashable, EntityID {
        var rawValue: Int
        init(rawValue: Int) { self.rawValue = rawValue }

        static func == (a: Self, b: Self) -> Bool {
            if a.rawValue == slow && b.rawValue == slow {
                comparing.send()
                goOn.wait()
            }
            return a.rawValue == b.rawValue
        }
        func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

        static let slow = 4_711
        static let (comparing, goOn) = (Signal(), Signal())
    }
}

/// Code of the program's that is called from the middle of an operation, and had better not be under a lock.
struct ProgramCodeTests {
    let place = TemporaryPlace()

    /// The list of IDs used to be compared under the lock that the bus takes for each commit.
    @Test func idsThatTakeLongToCompareHoldUpNoCommit() async throws {
        let store = try await Store.open(at: place.url, options: .init(durability: .unsafe), entities: Consignment.self)
        let resolver = try store.resolver(for: Consignment.self)
        let slow = Consignment.Number(rawValue: Consignment.Number.slow)
        resolver.resolve([slow])
        var values = resolver.values.makeAsyncIterator()
        #expect(await values.next()?.isEmpty == true)
        var commits = store.commits().makeAsyncIterator()
        Thread.detachNewThread { resolver.resolve([slow]) }
        Consignment.Number.comparing.wait()
        try await store.write { tx in try tx.insert(Consignment(id: Consignment.Number(rawValue: 1), text: "a")) }
        #expect(await commits.next()?.sequence == 1)
        Consignment.Number.goOn.send()
    }

    /// A task used to go on under the lock of what waits for it: where its executor runs it at once, it waited for itself.
    @Test func executorThatRunsTasksAtOnceMayTakeTheNextCommit() async throws {
        final class AtOnce: TaskExecutor {
            func enqueue(_ job: consuming ExecutorJob) {
                UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
            }
        }
        let store = try await Store.open(at: place.url, options: .init(durability: .unsafe), entities: Town.self)
        let (asked, asking) = AsyncStream<Void>.makeStream()
        let task = Task(executorPreference: AtOnce()) {
            var commits = store.commits().makeAsyncIterator()
            var sequences: [UInt64] = []
            asking.yield()
            while sequences.count < 3, let commit = await commits.next() { sequences.append(commit.sequence) }
            return sequences
        }
        for await _ in asked { break }
        for id in 1...3 {
            try await store.write { tx in try tx.insert(Town(id: id, name: "n", land: Ref("FR"), population: 1)) }
        }
        #expect(await task.value == [1, 2, 3])
    }
}
