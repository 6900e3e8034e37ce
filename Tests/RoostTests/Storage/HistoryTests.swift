// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostLMDB
import RoostTestSupport
import Testing

@Suite struct HistoryTests {
    private func key(_ id: Int) throws -> [UInt8] { try id.withKey { Array($0) } }

    @Test func eachCommitHasTheNextNumberAndAnEntryOfItsIDs() throws {
        try Store.withTemporary(Storage.Note.self, Storage.Label.self) { store in
            #expect(try store.lastSequence() == 0)
            let note = try store.state("Note")
            let label = try store.state("Label")
            try store.write { tx in
                try tx.insert(Storage.Note(id: 1, text: "a"))
                try tx.insert(Storage.Note(id: 2, text: "b"))
                try tx.insert(Storage.Label(id: "é", rank: nil))
            }
            try store.write { tx in
                try tx.update(Storage.Note.self, id: 1) { $0.text = "c" }
                try tx.delete(Storage.Note.self, id: 2)
                try tx.upsert(Storage.Note(id: 3, text: "d"))
            }
            #expect(try store.lastSequence() == 2)
            let first = try #require(try store.historyEntry(1))
            #expect(first.origin == store.engine.origin)
            #expect(first.entities.map(\.entity) == [note.number, label.number])
            #expect(first.entities[0].rows?.map(\.key) == [try key(1), try key(2)])
            #expect(first.entities[0].rows?.map(\.kind) == [.inserted, .inserted])
            #expect(first.entities[1].rows?.map(\.key) == [[0xC3, 0xA9, 0x00]])
            let second = try #require(try store.historyEntry(2))
            #expect(second.nonce != first.nonce)
            #expect(second.time >= first.time)
            #expect(second.entities.map(\.entity) == [note.number])
            #expect(second.entities[0].rows?.map(\.key) == [try key(1), try key(2), try key(3)])
            #expect(second.entities[0].rows?.map(\.kind) == [.updated, .deleted, .inserted])
            #expect(second.entities[0].rows?.first?.fields == ChangedFields([1]))
            #expect(try store.historyEntry(3) == nil)
            let nonce = try store.engine.environment.read { try store.engine.main.sequence(in: $0).nonce }
            #expect(nonce == second.nonce)
        }
    }

    @Test func whatChangesNothingIsNoCommit() throws {
        struct Mine: Error {}
        try Store.withTemporary(Storage.Note.self) { store in
            try store.write { tx in try tx.insert(Storage.Note(id: 1, text: "a")) }
            // Nothing at all, a read, a refusal, an abort, the same again.
            try store.write { _ in }
            try store.write { tx in _ = try tx.get(Storage.Note.self, id: 1) }
            try store.write { (tx) throws in
                #expect(code(failure(of: { try tx.insert(Storage.Note(id: 1, text: "b")) })) == .alreadyExists)
                #expect(try tx.delete(Storage.Note.self, id: 9) == false)
            }
            _ = failure {
                try store.write { tx in
                    try tx.insert(Storage.Note(id: 2, text: "b"))
                    throw Mine()
                }
            }
            try store.write { tx in try tx.upsert(Storage.Note(id: 1, text: "a")) }
            // There and back.
            try store.write { tx in
                try tx.update(Storage.Note.self, id: 1) { $0.text = "b" }
                try tx.update(Storage.Note.self, id: 1) { $0.text = "a" }
            }
            try store.write { tx in
                try tx.insert(Storage.Note(id: 2, text: "b"))
                try tx.delete(Storage.Note.self, id: 2)
            }
            try store.write { tx in
                try tx.delete(Storage.Note.self, id: 1)
                try tx.insert(Storage.Note(id: 1, text: "a"))
            }
            #expect(try store.lastSequence() == 1)
            #expect(try store.historyEntry(2) == nil)
            #expect(try store.all(Storage.Note.self) == [Storage.Note(id: 1, text: "a")])
            // The net change of several steps is one row.
            try store.write { tx in
                try tx.delete(Storage.Note.self, id: 1)
                try tx.insert(Storage.Note(id: 1, text: "z"))
                try tx.insert(Storage.Note(id: 2, text: "b"))
                try tx.update(Storage.Note.self, id: 2) { $0.text = "c" }
            }
            let entry = try #require(try store.historyEntry(2))
            #expect(entry.entities[0].rows?.map(\.kind) == [.updated, .inserted])
        }
    }

    @Test func numbersGoOnAfterReopening() throws {
        try withTemporaryFolder { folder in
            for round in 0..<4 {
                let store = try Store.open(folder + "/S.roost", Storage.Note.self)
                #expect(try store.lastSequence() == UInt64(round * 2))
                for step in 0..<2 {
                    try store.write { tx in try tx.insert(Storage.Note(id: round * 2 + step, text: "t")) }
                }
                #expect(try store.historyEntry(1) != nil)
                try store.close()
            }
        }
    }

    /// The size that the file keeps is the sum of the entries' bytes.
    private func keptSize(_ store: Store) throws -> (kept: UInt64, sum: Int) {
        try store.engine.environment.read { transaction in
            var cursor = try transaction.cursor(store.engine.history.database)
            var sum = 0
            var isFound = try cursor.first()
            while isFound {
                sum += cursor.value.count
                isFound = try cursor.next()
            }
            return (try store.engine.main.count(.historySize, in: transaction), sum)
        }
    }

    @Test func theByteBoundDropsTheOldest() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            for id in 0..<10 { try store.write { tx in try tx.insert(Storage.Note(id: id, text: "t")) } }
            let size = try keptSize(store)
            #expect(size.kept == UInt64(size.sum))
            // As if the entries so far were the bound less a few bytes.
            try store.engine.environment.write { transaction in
                let bound = UInt64(History.maximumBytes)
                try store.engine.main.setCount(.historySize, bound - 1, in: transaction)
            }
            try store.write { tx in try tx.insert(Storage.Note(id: 100, text: "t")) }
            #expect(try store.historyEntry(1) == nil)
            #expect(try store.historyEntry(2) != nil)
            #expect(try store.historyEntry(11) != nil)
            let bounds = try store.engine.environment.read { try store.engine.history.bounds(in: $0) }
            #expect(bounds == 2...11)
            // An entry that is beyond the bound alone is kept: the last commit is always there.
            try store.engine.environment.write { transaction in
                try store.engine.main.setCount(.historySize, UInt64(History.maximumBytes) * 2, in: transaction)
            }
            try store.write { tx in try tx.insert(Storage.Note(id: 101, text: "t")) }
            let last = try store.engine.environment.read { try store.engine.history.bounds(in: $0) }
            #expect(last == 12...12)
        }
    }

    @Test func theEntryBoundDropsTheOldest() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            let history = store.engine.history
            try store.engine.environment.write { transaction in
                var size: UInt64 = 0
                for sequence in 1...UInt64(History.maximumEntries) {
                    try history.append(
                        sequence: sequence, stamp: CommitStamp(nonce: 0, time: Date()), origin: 0, changes: [],
                        size: &size, in: transaction)
                }
                try store.engine.main.setCount(.historySize, size, in: transaction)
                try store.engine.main.setSequence(UInt64(History.maximumEntries), nonce: 0, in: transaction)
            }
            for id in 0..<5 { try store.write { tx in try tx.insert(Storage.Note(id: id, text: "t")) } }
            let bounds = try store.engine.environment.read { try history.bounds(in: $0) }
            #expect(bounds == 6...UInt64(History.maximumEntries) + 5)
            let size = try keptSize(store)
            #expect(size.kept == UInt64(size.sum))
        }
    }

    @Test func manyObjectsInOneCommitAreKeptAsMany() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            var changes = EntityChanges(entity: 1, name: "Note")
            let row = EntityChanges.Row(key: [1], kind: .inserted, fields: .none)
            changes.rows = Array(repeating: row, count: History.maximumRows)
            let exact = History.encode(nonce: 0, origin: 0, changes: [changes], at: Date())
            #expect(exact.withUnsafeBytes { History.decode($0) }?.entities[0].rows?.count == History.maximumRows)
            changes.rows.append(row)
            let many = History.encode(nonce: 0, origin: 0, changes: [changes], at: Date())
            let entry = try #require(many.withUnsafeBytes { History.decode($0) })
            #expect(entry.entities[0].entity == 1 && entry.entities[0].rows == nil)
            #expect(many.count == 36)
        }
    }
}
