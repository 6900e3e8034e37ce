// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// Hazard 3
@Suite struct StoreClosingTests {
    @Test func closeRacesReadWriteAndScan() throws {
        try withTemporaryFolder { folder in
            for _ in 0..<repetitions(250, thorough: 1_000) {
                let store = try Store.open(folder + "/S.roost", Storage.Note.self)
                let working = [Signal(), Signal(), Signal()]
                try onThreads(4) { thread in
                    if thread == 3 {
                        for signal in working { signal.wait() }
                        try store.close()
                        return
                    }
                    var count = 0
                    do {
                        while true {
                            switch thread {
                            case 0: _ = try store.get(Storage.Note.self, id: count % 20)
                            case 1:
                                let note = Storage.Note(id: count % 20, text: "\(count)")
                                try store.write { tx in try tx.upsert(note) }
                            default: _ = try store.all(Storage.Note.self)
                            }
                            count += 1
                            if count == 1 { working[thread].send() }
                        }
                    } catch  where code(error) == .storeClosed {
                        return
                    }
                }
            }
        }
    }

    @Test func asynchronousUseRacesClose() async throws {
        try await withTemporaryFolder { folder in
            for _ in 0..<50 {
                let store = try Store.open(folder + "/S.roost", Storage.Note.self)
                await withTaskGroup(of: (any Error)?.self) { group in
                    for id in 0..<10 {
                        group.addTask {
                            await failure(awaiting: {
                                try await store.write { tx in try tx.upsert(Storage.Note(id: id, text: "t")) }
                                return try await store.fetch(FetchDescriptor<Storage.Note>())
                            })
                        }
                    }
                    group.addTask { failure(of: { try store.close() }) }
                    for await error in group { #expect(error == nil || code(error) == .storeClosed, "\(error as Any)") }
                }
            }
        }
    }

    @Test func laterUseThrowsStoreClosed() async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder + "/S.roost", Storage.Note.self)
            let other = try Store.open(folder + "/S.roost", Storage.Note.self)
            try store.close()
            try store.close()
            let request = FetchDescriptor<Storage.Note>()
            #expect(code(failure(of: { try store.get(Storage.Note.self, id: 1) })) == .storeClosed)
            #expect(code(failure(of: { try store.get(Storage.Note.self, ids: [1]) })) == .storeClosed)
            #expect(code(failure(of: { try store.read { _ in } })) == .storeClosed)
            #expect(code(failure(of: { try store.write { _ in } })) == .storeClosed)
            #expect(code(failure(of: { try store.fetch(request) })) == .storeClosed)
            #expect(code(failure(of: { try store.count(request) })) == .storeClosed)
            #expect(code(await failure(awaiting: { try await store.fetch(request) })) == .storeClosed)
            #expect(code(await failure(awaiting: { try await store.write { _ in } })) == .storeClosed)
            // The other value of the same file is not concerned.
            try await other.write { tx in try tx.insert(Storage.Note(id: 1, text: "a")) }
            #expect(try other.all(Storage.Note.self).count == 1)
            try other.close()
            #expect(code(failure(of: { try other.all(Storage.Note.self) })) == .storeClosed)
        }
    }

    @Test func closeInsideATransactionThrowsStoreBusy() async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder + "/S.roost", Storage.Note.self)
            let other = try Store.open(folder + "/S.roost", Storage.Note.self)
            try onThreads(1) { _ in
                try store.write { tx in
                    try tx.insert(Storage.Note(id: 1, text: "a"))
                    #expect(code(failure(of: { try store.close() })) == .storeBusy)
                    #expect(code(failure(of: { try other.close() })) == .storeBusy)
                }
                try store.read { _ in
                    #expect(code(failure(of: { try store.close() })) == .storeBusy)
                }
            }
            try await store.read { _ in
                #expect(code(failure(of: { try store.close() })) == .storeBusy)
            }
            try await store.write { _ in
                #expect(code(failure(of: { try store.close() })) == .storeBusy)
            }
            #expect(try store.all(Storage.Note.self).count == 1)
            try other.close()
            try store.close()
        }
    }

    @Test func aStoreReleasedInsideATransactionOfAnotherCloses() throws {
        try withTemporaryFolder { folder in
            let kept = try Store.open(folder + "/S.roost", Storage.Note.self)
            try kept.write { tx in
                var passing: Store? = try Store.open(folder + "/S.roost", Storage.Note.self)
                #expect(passing != nil)
                passing = nil
                try tx.insert(Storage.Note(id: 1, text: "a"))
            }
            #expect(try kept.all(Storage.Note.self).count == 1)
            try kept.close()
        }
    }
}
