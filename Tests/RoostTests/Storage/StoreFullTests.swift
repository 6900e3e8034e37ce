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
            let numbers = message.split { !$0.isNumber }.compactMap { Int($0) }
            // Used, limit, and what it would have been.
            #expect(numbers[0] <= 1 << 20 && numbers[0] > 1 << 19 && numbers[1] == 1 << 20, "\(message)")
            #expect(numbers[2] > 1 << 20 && numbers[2] < 1 << 21, "\(message)")
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

    /// A map that is full to its last page lets nobody delete: what is changed needs new pages first.
    @Test(arguments: [5, 50, 500]) func aStoreFilledToTheBrimIsEmptiedAndFilledAgain(batch: Int) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            var options = Self.small
            options.maximumSize = 1 << 18
            var counts: [Int] = []
            for round in 0..<repetitions(3, thorough: 30) {
                let store = try Store.open(path, options: options, Storage.Note.self)
                var (stored, error) = fill(store)
                #expect(code(error) == .storeFull)
                // To the last page, one at a time.
                while true {
                    error = failure { try store.write { tx in try tx.insert(note(stored)) } }
                    if error != nil { break }
                    stored += 1
                }
                #expect(code(error) == .storeFull)
                counts.append(stored)
                // Larger records in their place do not fit either.
                error = failure {
                    try store.write { tx in
                        for id in 0..<stored {
                            try tx.update(Storage.Note(id: id, text: note(id).text + note(id).text))
                        }
                    }
                }
                #expect(code(error) == .storeFull)
                var ids = Array(0..<stored)
                // In the order of another index, of the IDs, or against it.
                if round % 3 == 0 { ids.sort { "\($0)" < "\($1)" } } else if round % 3 == 1 { ids.reverse() }
                var failures = 0
                var size = batch
                while !ids.isEmpty {
                    let some = ids.prefix(size)
                    let error = failure {
                        try store.write { tx in for id in some { try tx.delete(Storage.Note.self, id: id) } }
                    }
                    guard error != nil else {
                        ids.removeFirst(some.count)
                        continue
                    }
                    #expect(code(error) == .storeFull)
                    failures += 1
                    if failures % 2 == 0 { size = max(1, size / 2) }
                    try #require(
                        failures < 20, "\(ids.count) of \(stored), \(size) at a time: \(String(describing: error))")
                }
                #expect(try store.count(FetchDescriptor<Storage.Note>()) == 0)
                try store.close()
            }
            // No page is lost; the first time there was no history yet.
            #expect(counts.dropFirst().allSatisfy { $0 > counts[0] / 2 && $0 > counts[1] * 9 / 10 }, "\(counts)")
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/data.mdb")
            #expect(try #require(attributes[.size] as? Int) < 3 << 20)
        }
    }

    @Test func aStoreOpenedWithASmallerLimitThanItHasIsReadAndEmptiedUntilItFits() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            var options = Self.small
            options.maximumSize = 8 << 20
            let large = try Store.open(path, options: options, Storage.Note.self)
            var (stored, _) = fill(large)
            try large.close()

            let store = try Store.open(path, options: Self.small, Storage.Note.self, Storage.Label.self)
            #expect(try store.all(Storage.Note.self) == (0..<stored).map(note))
            #expect(code(failure(of: { try store.write { tx in try tx.insert(note(-1)) } })) == .storeFull)
            #expect(
                code(failure(of: { try store.write { tx in try tx.update(Storage.Note(id: 1, text: "")) } }))
                    == .storeFull)
            // Nor one that deletes as well.
            let mixed = failure {
                try store.write { tx in
                    for id in 0..<10 { try tx.delete(Storage.Note.self, id: id) }
                    try tx.insert(Storage.Label(id: "x", rank: 1))
                }
            }
            #expect(code(mixed) == .storeFull)
            var deletions = 0
            while failure(of: { try store.write { tx in try tx.insert(Storage.Label(id: "x", rank: 1)) } }) != nil {
                try store.write { tx in
                    for id in max(0, stored - 50)..<stored { try tx.delete(Storage.Note.self, id: id) }
                }
                stored -= 50
                deletions += 1
                try #require(stored > 0)
            }
            #expect(deletions > 10)
            #expect(try #require(store.engine.environment.space).used <= 1 << 20)
            #expect(try store.all(Storage.Note.self) == (0..<stored).map(note))
            try store.close()
        }
    }

    @Test func aReaderThatKeepsPagesIsNamed() throws {
        try Store.withTemporary(options: Self.small, Storage.Note.self) { (store) throws in
            try store.write { tx in try tx.insert(note(0)) }
            let message = try store.read { (_) throws -> String in
                for text in ["a", "b", "c"] {
                    try store.write { tx in try tx.update(Storage.Note(id: 0, text: text)) }
                }
                try store.write { tx in try tx.delete(Storage.Note.self, id: 0) }
                return (fill(store).error as? StoreError)?.message ?? ""
            }
            #expect(message.contains("a read of process \(getpid()) keeps the pages of"), "\(message)")
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
                    let message = (inside as? StoreError)?.message ?? ""
                    #expect(message.contains("of at most 1048576 bytes are in use"), "\(message)")
                    #expect(message.contains("the transaction needed more than"), "\(message)")
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
