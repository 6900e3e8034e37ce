// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// Hazard 13
@Suite struct StoreNestingTests {
    private func withTwo(_ body: (Store, Store) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let first = try Store.open(folder + "/S.roost", Storage.Note.self)
            let second = try Store.open(folder + "/S.roost", Storage.Note.self)
            try first.write { tx in try tx.insert(Storage.Note(id: 1, text: "old")) }
            try body(first, second)
            try second.close()
            try first.close()
        }
    }

    @Test func aWriteInsideAWriteThrowsNestedWrite() throws {
        try withTwo { first, second in
            try first.write { tx in
                try tx.upsert(Storage.Note(id: 1, text: "new"))
                #expect(code(failure(of: { try first.write { _ in } })) == .nestedWrite)
                #expect(code(failure(of: { try second.write { _ in } })) == .nestedWrite)
            }
            #expect(try second.get(Storage.Note.self, id: 1)?.text == "new")
        }
    }

    @Test func aWriteInsideAReadInsideAWriteThrowsNestedWrite() throws {
        try withTwo { first, second in
            try first.write { tx in
                try tx.upsert(Storage.Note(id: 1, text: "new"))
                try first.read { _ in
                    #expect(code(failure(of: { try first.write { _ in } })) == .nestedWrite)
                    #expect(code(failure(of: { try second.write { _ in } })) == .nestedWrite)
                }
            }
            #expect(try first.get(Storage.Note.self, id: 1)?.text == "new")
        }
    }

    @Test func theSameOnTheWritersThread() async throws {
        try await Store.withTemporary(Storage.Note.self) { store in
            try await store.write { tx in
                try tx.insert(Storage.Note(id: 1, text: "a"))
                #expect(code(failure(of: { try store.write { _ in } })) == .nestedWrite)
                try store.read { _ in
                    #expect(code(failure(of: { try store.write { _ in } })) == .nestedWrite)
                }
            }
            #expect(try await store.get(Storage.Note.self, id: 1) != nil)
        }
    }

    @Test func aReadInsideAReadJoins() throws {
        try withTwo { first, second in
            let began = Signal()
            let written = Signal()
            try onThreads(2) { thread in
                if thread == 0 {
                    try first.read { tx in
                        let before = try tx.get(Storage.Note.self, id: 1)?.text
                        began.send()
                        written.wait()
                        #expect(before == "old")
                        #expect(try first.get(Storage.Note.self, id: 1)?.text == "old")
                        #expect(try second.get(Storage.Note.self, id: 1)?.text == "old")
                    }
                    #expect(try first.get(Storage.Note.self, id: 1)?.text == "new")
                } else {
                    began.wait()
                    try second.write { tx in try tx.upsert(Storage.Note(id: 1, text: "new")) }
                    written.send()
                }
            }
        }
    }

    @Test func aWriteInsideAReadIsSeenByLaterReadsOnly() throws {
        try withTwo { first, second in
            try first.read { outer in
                try second.write { tx in try tx.upsert(Storage.Note(id: 1, text: "new")) }
                #expect(try outer.get(Storage.Note.self, id: 1)?.text == "old")
                #expect(try second.get(Storage.Note.self, id: 1)?.text == "old")
            }
            #expect(try second.get(Storage.Note.self, id: 1)?.text == "new")
        }
    }
}
