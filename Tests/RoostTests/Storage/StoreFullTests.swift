// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// Hazard 4
@Suite struct StoreFullTests {
    private static let small = Store.Options(durability: .unsafe, maximumSize: 1 << 20)

    private func note(_ id: Int) -> Storage.Note {
        Storage.Note(id: id, text: "\(id) " + String(repeating: "x", count: 300))
    }

    /// Adds notes, ten a transaction, until one fails; returns how many stand and the error.
    private func fill(_ store: Store) -> (stored: Int, error: (any Error)?) {
        var stored = 0
        while stored < 100_000 {
            let first = stored
            let error = failure {
                try store.write { tx in try tx.insert(contentsOf: (first..<first + 10).map(note)) }
            }
            if let error { return (stored, error) }
            stored += 10
        }
        return (stored, nil)
    }

    @Test func aFullStoreLosesOnlyTheTransactionThatDidNotFit() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(path, options: Self.small, Storage.Note.self)
            let (stored, error) = fill(store)
            #expect(code(error) == .storeFull)
            #expect(stored > 100)
            let message = try #require(error as? StoreError).message
            #expect(message.contains("1048576") && message.contains("maximumSize"), "\(message)")
            #expect(message.contains("the transaction needed more than"), "\(message)")
            let sequence = try store.lastSequence()
            #expect(sequence == UInt64(stored / 10))
            #expect(try store.all(Storage.Note.self) == (0..<stored).map(note))
            try store.close()

            let again = try Store.open(path, options: Self.small, Storage.Note.self)
            #expect(try again.all(Storage.Note.self) == (0..<stored).map(note))
            #expect(try again.lastSequence() == sequence)
            for id in stride(from: 0, to: stored, by: 37) {
                let text = note(id).text
                #expect(try again.ids(FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text == text })) == [id])
            }
            try again.close()

            var larger = Self.small
            larger.maximumSize = 1 << 23
            let grown = try Store.open(path, options: larger, Storage.Note.self)
            try grown.write { tx in
                for id in 0..<stored { try tx.delete(Storage.Note.self, id: id) }
            }
            #expect(try grown.all(Storage.Note.self).isEmpty)
            try grown.write { tx in try tx.insert(contentsOf: (0..<stored).map(note)) }
            try grown.close()
        }
    }

    // Hazards 4 and 24
    @Test func catchingTheErrorInsideDoesNotSaveTheTransaction() throws {
        try Store.withTemporary(options: Self.small, Storage.Note.self, Storage.Label.self) { (store) throws in
            try store.write { tx in try tx.insert(note(1)) }
            var inside: (any Error)?
            let error = failure {
                try store.write { tx in
                    for id in 2..<5_000 where inside == nil {
                        inside = failure { try tx.insert(note(id)) }
                    }
                    #expect(code(inside) == .storeFull)
                    // Whatever is tried afterwards fails.
                    #expect(code(failure(of: { try tx.insert(Storage.Label(id: "x", rank: 1)) })) == .storeFull)
                    #expect(code(failure(of: { try tx.delete(Storage.Note.self, id: 1) })) == .storeFull)
                    #expect(code(failure(of: { try tx.get(Storage.Note.self, id: 1) })) == .storeFull)
                    #expect(code(failure(of: { try tx.fetch(FetchDescriptor<Storage.Note>()) })) == .storeFull)
                }
            }
            #expect(code(error) == .storeFull)
            #expect(try store.all(Storage.Note.self) == [note(1)])
            #expect(try store.all(Storage.Label.self).isEmpty)
            #expect(try store.lastSequence() == 1)
        }
    }

    /// With keys that were cut the end of the transaction reads before it writes, which LMDB refuses in its own words.
    @Test func theErrorStaysStoreFullWhereTheEndOfTheTransactionReads() throws {
        try Store.withTemporary(options: Self.small, Storage.Note.self) { (store) throws in
            let error = failure {
                try store.write { tx in
                    for id in 0..<5_000 {
                        let long = Storage.Note(id: id, text: "\(id)" + String(repeating: "long ", count: 200))
                        if failure(of: { try tx.insert(long) }) != nil { break }
                    }
                }
            }
            #expect(code(error) == .storeFull)
            #expect(try store.all(Storage.Note.self).isEmpty)
        }
    }
}
