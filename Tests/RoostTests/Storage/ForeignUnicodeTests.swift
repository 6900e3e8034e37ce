// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostLMDB
import RoostTestSupport
import Testing

extension Storage {
    @Entity struct Tagged: Equatable {
        var id: Int
        var rank: Int
        var name: String?
        var tags: [String]
        static let indexes: [Index<Tagged>] = [Index(\.rank, \.name), Index(\.rank), Index(each: \.tags)]
    }

    @Entity struct Plain: Equatable {
        var id: Int
        var rank: Int
        var text: String
        static let indexes: [Index<Plain>] = [Index(\.rank)]
    }
}

/// Stores whose text keys were made by other Unicode data than this build's. The text indexes of these hold nothing at
/// all, and one object's key is the decomposed form of its ID: who uses them gives wrong answers.
@Suite struct ForeignUnicodeTests {
    private static let texts = ["beta", "é", "alpha", "한", "\u{1112}\u{1161}\u{11AB}글", "", "zeta", "ё", "e\u{301}t"]
    private static var notes: [Storage.Note] {
        texts.enumerated().map { Storage.Note(id: $0.offset, text: $0.element) }
    }
    private static var labels: [Storage.Label] {
        texts.enumerated().map { Storage.Label(id: $0.element, rank: Double($0.offset)) }
    }
    private static var tagged: [Storage.Tagged] {
        texts.enumerated().map {
            Storage.Tagged(id: $0.offset, rank: $0.offset % 3, name: $0.element, tags: [$0.element, "common"])
        }
    }

    private func withForeignStore(isReadOnly: Bool = false, _ body: (Store) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(
                path, Storage.Note.self, Storage.Label.self, Storage.Tagged.self, Storage.Plain.self)
            try store.write { tx in
                try tx.insert(contentsOf: Self.notes)
                try tx.insert(contentsOf: Self.labels)
                try tx.insert(contentsOf: Self.tagged)
                try tx.insert(Storage.Plain(id: 1, rank: 1, text: "한"))
            }
            var catalog = store.engine.schema.catalog
            catalog.unicode = "1.1"
            let main = store.engine.main
            try store.engine.environment.write { transaction in
                try main.put(.catalog, try catalog.encoded(), in: transaction)
                for state in [try store.state("Note"), try store.state("Tagged")] {
                    for index in state.indexes where index.components.contains(where: { $0.scalar == .string }) {
                        try empty(index.database, transaction)
                    }
                }
                try rename("한", to: "\u{1112}\u{1161}\u{11AB}", try store.state("Label"), transaction)
            }
            try store.close()
            let options = Store.Options(durability: .unsafe, isReadOnly: isReadOnly)
            let foreign = try Store.open(
                path, options: options, Storage.Note.self, Storage.Label.self, Storage.Tagged.self, Storage.Plain.self)
            #expect(foreign.engine.schema.catalog.unicode == "1.1")
            try body(foreign)
            try foreign.close()
        }
    }

    private func empty(_ database: Database, _ transaction: Transaction) throws {
        var keys: [[UInt8]] = []
        var cursor = try transaction.cursor(database)
        try cursor.forEach { key, _ in keys.append(Array(key)) }
        for key in keys { _ = try key.withUnsafeBytes { try transaction.delete(database, key: $0) } }
    }

    /// Gives a record another key, and its entry in the index of ranks, too.
    private func rename(_ id: String, to raw: String, _ state: StoredEntity, _ transaction: Transaction) throws {
        let new = Array(raw.utf8) + [0]
        let old = NormalizedText.bytes(of: id) + [0]
        let record = try #require(try old.withUnsafeBytes { try transaction.get(state.records, $0).map { Array($0) } })
        _ = try old.withUnsafeBytes { try transaction.delete(state.records, key: $0) }
        _ = try new.withUnsafeBytes { key in
            try record.withUnsafeBytes { try transaction.put(state.records, key: key, value: $0) }
        }
        let index = state.indexes[0].database
        var entries: [[UInt8]] = []
        var cursor = try transaction.cursor(index)
        try cursor.forEach { key, _ in entries.append(Array(key)) }
        for entry in entries where entry.suffix(old.count) == old[...] && entry.count == 9 + old.count {
            _ = try entry.withUnsafeBytes { try transaction.delete(index, key: $0) }
            _ = try (entry.dropLast(old.count) + new).withUnsafeBytes {
                try transaction.put(index, key: $0, value: UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
    }

    private func nfc(_ text: String) -> [UInt8] { NormalizedText.bytes(of: text) }

    @Test func indexOfForeignTextKeysWasUsed() throws {
        try withForeignStore { store in
            for text in Self.texts + ["absent", "\u{D55C}\u{AE00}"] {
                let equal = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text == text })
                #expect(try store.ids(equal) == Self.notes.filter { $0.text == text }.map(\.id))
                let prefix = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text.starts(with: text) })
                #expect(try store.ids(prefix) == Self.notes.filter { $0.text.starts(with: text) }.map(\.id))
                let range = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text >= text })
                let above = Self.notes.filter { !nfc($0.text).lexicographicallyPrecedes(nfc(text)) }
                #expect(try store.ids(range) == above.map(\.id))
                let each = FetchDescriptor<Storage.Tagged>(predicate: #Predicate { $0.tags.contains(text) })
                #expect(try store.ids(each) == Self.tagged.filter { $0.tags.contains(text) }.map(\.id))
                let compound = FetchDescriptor<Storage.Tagged>(
                    predicate: #Predicate { $0.rank == 1 && $0.name == text })
                #expect(try store.ids(compound) == Self.tagged.filter { $0.rank == 1 && $0.name == text }.map(\.id))
                for plan in [
                    try store.explain(equal).plan, try store.explain(prefix).plan, try store.explain(each).plan,
                ] {
                    #expect(plan.hasPrefix("table scan"))
                }
            }
            let sorted = FetchDescriptor<Storage.Note>(sortBy: [SortDescriptor(\.text)])
            let expected = Self.notes.sorted { nfc($0.text).lexicographicallyPrecedes(nfc($1.text)) }
            #expect(try store.ids(sorted) == expected.map(\.id))
            // An index without text is used as ever.
            let ranked = FetchDescriptor<Storage.Tagged>(
                predicate: #Predicate { $0.rank == 1 }, sortBy: [SortDescriptor(\.rank)])
            #expect(try store.ids(ranked) == [1, 4, 7])
            let plans = try store.explain(FetchDescriptor<Storage.Tagged>(sortBy: [SortDescriptor(\.rank)])).plan
            #expect(!plans.contains("name"))
        }
    }

    @Test func objectWasNotFoundByTheTextIDOfAForeignKey() throws {
        try withForeignStore(isReadOnly: true) { (store) throws in
            for label in Self.labels {
                let id = label.id
                #expect(try store.get(Storage.Label.self, id: label.id) == label)
                let equal = FetchDescriptor<Storage.Label>(predicate: #Predicate { $0.id == id })
                #expect(try store.fetch(equal) == [label])
                let range = FetchDescriptor<Storage.Label>(
                    predicate: #Predicate { $0.id <= id }, sortBy: [SortDescriptor(\.rank)])
                let below = Self.labels.filter { !nfc(label.id).lexicographicallyPrecedes(nfc($0.id)) }
                #expect(try store.fetch(range) == below)
            }
            #expect(try store.get(Storage.Label.self, id: "\u{1112}\u{1161}\u{11AB}")?.rank == 3)
            #expect(try store.get(Storage.Label.self, id: "없") == nil)
            #expect(try store.get(Storage.Label.self, ids: ["한", "없", "beta", "한"]).map(\.rank) == [3, 0, 3])
            for direction in [SortOrder.forward, .reverse] {
                let sorted = FetchDescriptor<Storage.Label>(sortBy: [SortDescriptor(\.id, order: direction)])
                let ids = Self.labels.map(\.id).sorted { nfc($0).lexicographicallyPrecedes(nfc($1)) }
                #expect(try store.fetch(sorted).map(\.id) == (direction == .forward ? ids : ids.reversed()))
            }
            let ranked = FetchDescriptor<Storage.Label>(predicate: #Predicate { $0.rank == 3 })
            #expect(try store.fetch(ranked).map(\.id) == ["한"])
            // The index of ranks gives IDs in the order of the store's keys, not in this one.
            let inRange = FetchDescriptor<Storage.Label>(
                predicate: #Predicate { $0.rank == 3 || $0.rank == 4 }, sortBy: [SortDescriptor(\.id)])
            #expect(try store.ids(inRange) == ["한", Self.texts[4]])
        }
    }

    @Test func keysOfTwoUnicodeVersionsWereMixed() throws {
        try withForeignStore { store in
            try store.write { tx in
                var errors: [(any Error)?] = []
                errors.append(failure(of: { try tx.insert(Storage.Note(id: 100, text: "a")) }))
                errors.append(failure(of: { try tx.update(Storage.Note(id: 1, text: "b")) }))
                errors.append(failure(of: { try tx.upsert(Storage.Tagged(id: 1, rank: 9, name: nil, tags: [])) }))
                errors.append(failure(of: { try tx.delete(Storage.Tagged.self, id: 1) }))
                errors.append(failure(of: { try tx.insert(Storage.Label(id: "new", rank: nil)) }))
                errors.append(failure(of: { try tx.delete(Storage.Label.self, id: "한") }))
                for error in errors {
                    #expect(code(error) == .schemaMismatch)
                    #expect("\(error as Any)".contains("the store's text keys follow Unicode 1.1"))
                }
                // An entity without text keys, in the same transaction.
                try tx.upsert(Storage.Plain(id: 1, rank: 2, text: "글"))
                try tx.insert(Storage.Plain(id: 2, rank: 2, text: "b"))
            }
            #expect(try store.all(Storage.Note.self) == Self.notes)
            #expect(try store.all(Storage.Tagged.self) == Self.tagged)
            let ranked = FetchDescriptor<Storage.Plain>(predicate: #Predicate { $0.rank == 2 })
            #expect(try store.fetch(ranked).map(\.text) == ["글", "b"])
        }
    }
}
