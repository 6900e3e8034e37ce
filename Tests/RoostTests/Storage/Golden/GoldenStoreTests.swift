// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

/// A store of format 1, kept for ever: every later version must read it, and must be able to write to it.
///
/// `data.mdb` is made once, by `ROOST_TEST_MAKE_GOLDEN=1 swift test --filter GoldenStoreTests`. A format that it is not
/// readable by any more has another number; this file stays, and another is put beside it.
@Suite struct GoldenStoreTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    static let file = folder.appendingPathComponent("data.mdb")
    static let entities: [any Entity.Type] = [Golden.Everything.self, Golden.Word.self, Golden.Token.self]

    private func withCopy(isReadOnly: Bool, _ body: (Store) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/Golden.roost"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: Self.file.path, toPath: path + "/data.mdb")
            let options = Store.Options(durability: .unsafe, isReadOnly: isReadOnly)
            let store = try Store.open(at: URL(fileURLWithPath: path), options: options, entities: Self.entities)
            try body(store)
            try store.close()
        }
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["ROOST_TEST_MAKE_GOLDEN"] != nil))
    func makeTheFile() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/Golden.roost"
            let store = try Store.open(at: URL(fileURLWithPath: path), options: Store.fast, entities: Self.entities)
            try store.write { tx in
                try tx.insert(Golden.first)
                try tx.insert(Golden.second)
                try tx.insert(contentsOf: Golden.words)
                try tx.insert(Golden.Token(id: Golden.uuid, on: true))
                _ = try tx.nextID(Golden.Everything.self)
            }
            try store.write { tx in
                var changed = Golden.second
                changed.n20 = 21
                try tx.update(changed)
                try tx.insert(Golden.Everything.empty(id: 3))
            }
            try store.write { tx in _ = try tx.delete(Golden.Everything.self, id: 3) }
            try store.close()
            try? FileManager.default.removeItem(at: Self.file)
            try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: Self.file.path)
        }
    }

    @Test(arguments: [true, false]) func everyValueIsAsItWas(isReadOnly: Bool) throws {
        try withCopy(isReadOnly: isReadOnly) { (store) throws in
            var second = Golden.second
            second.n20 = 21
            #expect(try store.all(Golden.Everything.self) == [Golden.first, second])
            #expect(try store.get(Golden.Everything.self, id: 2) == second)
            #expect(try store.all(Golden.Word.self).map(\.id) == ["apple", "e\u{301}te\u{301}", "한"])
            #expect(try store.get(Golden.Word.self, id: "été")?.id.unicodeScalars.count == 5)
            #expect(try store.get(Golden.Token.self, id: Golden.uuid) == Golden.Token(id: Golden.uuid, on: true))
            #expect(try store.lastSequence() == 3)
            #expect(store.engine.header.format == 1)
            #expect(store.engine.schema.catalog.entities.map(\.number) == [1, 2, 3])
        }
    }

    @Test func everyIndexIsAsItWas() throws {
        try withCopy(isReadOnly: true) { (store) throws in
            func ids(_ predicate: Predicate<Golden.Everything>) throws -> [Int] {
                try store.ids(FetchDescriptor(predicate: predicate))
            }
            let long = Golden.long
            #expect(try ids(#Predicate { $0.int == -5 }) == [1])
            #expect(try ids(#Predicate { $0.string == "e\u{301}" }) == [1])
            #expect(try ids(#Predicate { $0.string == long }) == [2])
            #expect(try ids(#Predicate { $0.optionalDouble == nil }) == [2])
            #expect(try ids(#Predicate { $0.strings.contains("red") }) == [1])
            #expect(try ids(#Predicate { $0.bool && $0.int32 > 0 }) == [1])
            // The entries themselves: a small table is scanned rather than looked up.
            let state = try store.state("Everything")
            let entries = try store.engine.environment.read { transaction in
                try state.indexes.map { index -> [String] in
                    var keys: [String] = []
                    var cursor = try transaction.cursor(index.database)
                    try cursor.forEach { key, _ in
                        keys.append(key.map { String(Int($0) + 0x100, radix: 16).suffix(2) }.joined())
                    }
                    return keys
                }
            }
            #expect(entries == Golden.entries)
            let cut = try store.engine.environment.read { transaction in
                try state.indexes.map {
                    try store.engine.main.count(.inexactKeys(of: $0.databaseNumber), in: transaction)
                }
            }
            #expect(cut == [0, 1, 0, 0, 0])
        }
    }

    @Test func historyIsAsItWas() throws {
        try withCopy(isReadOnly: true) { (store) throws in
            let first = try #require(try store.historyEntry(1))
            #expect(first.entities.map(\.entity) == [1, 2, 3])
            #expect(
                first.entities.map { $0.rows?.map(\.kind) } == [
                    [.inserted, .inserted], [.inserted, .inserted, .inserted], [.inserted],
                ])
            let second = try #require(try store.historyEntry(2)).entities
            let fields = try #require(Golden.Everything.fields.firstIndex { $0.name == "n20" })
            #expect(fields > 63)
            #expect(second.map(\.entity) == [1])
            #expect(second[0].rows?.map(\.kind) == [.updated, .inserted])
            #expect(second[0].rows?[0].fields == ChangedFields([fields]))
            let third = try #require(try store.historyEntry(3)).entities
            #expect(third[0].rows?.map(\.kind) == [.deleted])
            #expect(third[0].rows?[0].key == [0x80, 0, 0, 0, 0, 0, 0, 3])
        }
    }

    @Test func goldenStoreCanBeWritten() throws {
        try withCopy(isReadOnly: false) { (store) throws in
            try store.write { tx in
                #expect(try tx.nextID(Golden.Everything.self) == 4)
                try tx.insert(Golden.Everything.empty(id: 4))
                _ = try tx.delete(Golden.Everything.self, id: 2)
                try tx.upsert(Golden.Word(id: "été", length: 4))
            }
            let long = Golden.long
            let found = FetchDescriptor<Golden.Everything>(predicate: #Predicate { $0.string == long })
            #expect(try store.ids(found).isEmpty)
            #expect(try store.all(Golden.Everything.self).map(\.id) == [1, 4])
            #expect(try store.all(Golden.Word.self).map(\.length) == [5, 4, 1])
            #expect(try store.lastSequence() == 4)
        }
    }
}
