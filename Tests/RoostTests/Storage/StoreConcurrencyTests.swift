// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

@Suite struct StoreConcurrencyTests {
    // Hazard 11
    @Test func aThousandFetchesWithFourReadersAllSucceed() async throws {
        let options = Store.Options(durability: .unsafe, readerLimit: 4)
        try await Store.withTemporary(options: options, Storage.Note.self) { (store) async throws in
            try await store.write { tx in
                for id in 0..<50 { try tx.insert(Storage.Note(id: id, text: "\(id % 5)")) }
            }
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<1_000 {
                    group.addTask {
                        let text = "\(number % 5)"
                        let request = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text == text })
                        return try await store.fetch(request).count
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == Array(repeating: 10, count: 1_000))
            #expect(try #require(store.engine.environment.readerSlots).used <= 4)
        }
    }

    // Hazard 12
    @Test func writesFromManyTasksEachHappenOnce() async throws {
        try await Store.withTemporary(Storage.Note.self) { (store) async throws in
            try await store.write { tx in try tx.insert(Storage.Note(id: 0, text: "0")) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 1...200 {
                    group.addTask {
                        try await store.write { tx in
                            try tx.insert(Storage.Note(id: id, text: "t"))
                            try tx.update(Storage.Note.self, id: 0) { $0.text = "\((Int($0.text) ?? 0) + 1)" }
                        }
                        #expect(try await store.get(Storage.Note.self, id: id) != nil)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.get(Storage.Note.self, id: 0)?.text == "200")
            #expect(try store.lastSequence() == 201)
        }
    }

    // Hazard 12
    @Test func aWriteCancelledBeforeItBeginsChangesNothing() async throws {
        try await Store.withTemporary(Storage.Note.self) { (store) async throws in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await store.write { tx in try tx.insert(Storage.Note(id: 1, text: "a")) }
            }
            let error = await failure(awaiting: { try await task.value })
            #expect(error is CancellationError)
            #expect(try store.all(Storage.Note.self).isEmpty)
            #expect(try store.lastSequence() == 0)
        }
    }

    // Hazard 12
    @Test func aWriteCancelledWhileItWaitsItsTurnChangesNothing() async throws {
        try await Store.withTemporary(Storage.Note.self) { (store) async throws in
            let writing = Signal()
            let release = Signal()
            let first = Task {
                try await store.write { tx in
                    writing.send()
                    release.wait()
                    try tx.insert(Storage.Note(id: 1, text: "first"))
                }
            }
            await Task.detached { writing.wait() }.value
            let second = Task {
                try await store.write { tx in try tx.insert(Storage.Note(id: 2, text: "second")) }
            }
            second.cancel()
            release.send()
            try await first.value
            let error = await failure(awaiting: { try await second.value })
            #expect(error is CancellationError)
            #expect(try store.all(Storage.Note.self).map(\.id) == [1])
            try await store.write { tx in try tx.insert(Storage.Note(id: 3, text: "third")) }
            #expect(try store.lastSequence() == 2)
        }
    }

    // Hazard 12: once begun, a write runs to its end.
    @Test func aWriteCancelledWhileItRunsCommits() async throws {
        try await Store.withTemporary(Storage.Note.self) { (store) async throws in
            let writing = Signal()
            let release = Signal()
            let task = Task {
                try await store.write { tx in
                    try tx.insert(Storage.Note(id: 1, text: "a"))
                    writing.send()
                    release.wait()
                    try tx.insert(Storage.Note(id: 2, text: "b"))
                }
            }
            await Task.detached { writing.wait() }.value
            task.cancel()
            release.send()
            try await task.value
            #expect(try store.all(Storage.Note.self).map(\.id) == [1, 2])
        }
    }

    // Hazard 14
    @Test func aProcessKilledInsideAWriteLeavesNothing() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(path, options: Store.Options(), Storage.Note.self)
            let rounds = repetitions(5, thorough: 50)
            for round in 0..<rounds {
                let writer = try HelperProcess(["write", path])
                #expect(writer.line() == "ready")
                writer.kill()
                try store.write { tx in try tx.insert(Storage.Note(id: round, text: "here")) }
                #expect(try store.all(Storage.Note.self).map(\.id) == Array(0...round))
                #expect(try store.lastSequence() == UInt64(round + 1))
            }
            let request = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text.starts(with: "of the dead") })
            #expect(try store.count(request) == 0)
            let survivor = try HelperProcess(["open", path])
            #expect(survivor.line() == "notes \(rounds)")
            #expect(survivor.finish() == 0)
            try store.close()
        }
    }

    // Hazard 10
    @Test func aLongReadIsReportedWithItsPlace() throws {
        try Store.withTemporary(Storage.Note.self) { (store) throws in
            try store.read { _ in
                try onThreads(1) { _ in
                    for id in 0..<3 { try store.write { tx in try tx.insert(Storage.Note(id: id, text: "t")) } }
                }
                let oldest = try #require(store.engine.environment.oldestReader)
                #expect("\(try #require(oldest.origin).file)".hasSuffix("StoreConcurrencyTests.swift"))
                #expect(store.engine.environment.oldestReaderLag == 3)
            }
            #expect(store.engine.environment.oldestReaderLag == nil)
        }
    }
}
