// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

@Suite struct NextIDTests {
    private struct Mine: Error {}

    @Entity struct Small {
        var id: Int8
        var text: String
    }

    @Test func anIDIsNeverGivenTwice() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            var given: [Int] = []
            for _ in 0..<3 {
                let store = try Store.open(path, Storage.Note.self)
                for _ in 0..<5 {
                    try store.write { tx in
                        let id = try tx.nextID(Storage.Note.self)
                        given.append(id)
                        try tx.insert(Storage.Note(id: id, text: "t"))
                    }
                    // The last one goes, and its ID with it.
                    try store.write { tx in _ = try tx.delete(Storage.Note.self, id: given[given.count - 1]) }
                }
                try store.close()
            }
            #expect(given == Array(1...15))
        }
    }

    @Test func severalInOneTransaction() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            try store.write { tx in
                #expect(try (0..<4).map { _ in try tx.nextID(Storage.Note.self) } == [1, 2, 3, 4])
                try tx.insert(Storage.Note(id: 100, text: "chosen"))
                #expect(try tx.nextID(Storage.Note.self) == 101)
                try tx.insert(Storage.Note(id: -7, text: "negative"))
                #expect(try tx.nextID(Storage.Note.self) == 102)
            }
        }
    }

    @Test func anAbortedTransactionGivesItsIDsBack() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            for _ in 0..<3 {
                let error = failure {
                    try store.write { tx in
                        #expect(try tx.nextID(Storage.Note.self) == 1)
                        throw Mine()
                    }
                }
                #expect(error is Mine)
            }
            try store.write { (tx) throws in #expect(try tx.nextID(Storage.Note.self) == 1) }
            // Given and not used: still given.
            try store.write { (tx) throws in #expect(try tx.nextID(Storage.Note.self) == 2) }
        }
    }

    @Test func theTypesEndIsAnError() throws {
        try Store.withTemporary(Small.self, Storage.Note.self) { store in
            try store.write { tx in
                try tx.insert(Small(id: 126, text: "t"))
                #expect(try tx.nextID(Small.self) == 127)
                #expect(code(failure(of: { try tx.nextID(Small.self) })) == .idsExhausted)
                try tx.insert(Storage.Note(id: .max, text: "t"))
                #expect(code(failure(of: { try tx.nextID(Storage.Note.self) })) == .idsExhausted)
            }
        }
    }

    /// The decoder's own error used to come out, which names nothing.
    @Test func aDamagedLastKeyIsNamed() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            try store.write { tx in try tx.insert(Storage.Note(id: 1, text: "t")) }
            let records = try store.state("Note").records
            try store.engine.environment.write { transaction in
                _ = try [0xFF, 0xFF, 0xFF].withUnsafeBytes { key in
                    try [UInt8](repeating: 0, count: 20).withUnsafeBytes {
                        try transaction.put(records, key: key, value: $0)
                    }
                }
            }
            let error = failure { try store.write { tx in _ = try tx.nextID(Storage.Note.self) } } as? StoreError
            #expect(error?.code == .damaged && error?.place.entity == "Note" && error?.place.field == "id")
        }
    }
}
