// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostLMDB
import RoostTestSupport
import Testing

@Suite struct CatalogTests {
    enum Base {
        @Entity struct Plan {
            var id: Int
            var name: String
            var size: Int?
            var owner: Ref<Storage.Label>
            static let indexes: [Index<Plan>] = [Index(\.name), Index(\.owner, \.size)]
        }
    }
    enum Added {
        @Entity struct Plan {
            var id: Int
            var name: String
            var size: Int?
            var owner: Ref<Storage.Label>
            var extra: Bool
            static let indexes: [Index<Plan>] = [Index(\.name), Index(\.owner, \.size)]
        }
    }
    enum Removed {
        @Entity struct Plan {
            var id: Int
            var name: String
            var owner: Ref<Storage.Label>
        }
    }
    enum Retyped {
        @Entity struct Plan {
            var id: Int
            var name: String
            var size: Int
            var owner: Ref<Storage.Label>
            static let indexes: [Index<Plan>] = [Index(\.name), Index(\.owner, \.size)]
        }
    }
    enum Renamed {
        @Entity struct Plan {
            var id: Int
            var title: String
            var size: Int?
            var owner: Ref<Storage.Label>
        }
    }
    enum Moved {
        @Entity struct Plan {
            var id: Int
            var size: Int?
            var name: String
            var owner: Ref<Storage.Label>
            static let indexes: [Index<Plan>] = [Index(\.name), Index(\.owner, \.size)]
        }
    }
    enum Pointed {
        @Entity struct Plan {
            var id: Int
            var name: String
            var size: Int?
            var owner: Ref<CatalogTests.Pointed.Named>
            static let indexes: [Index<Plan>] = [Index(\.name), Index(\.owner, \.size)]
        }
        @Entity struct Named { var id: String }
    }
    enum OtherID {
        @Entity struct Plan {
            var id: String
            var name: String
            var size: Int?
            var owner: Ref<Storage.Label>
            static let indexes: [Index<Plan>] = [Index(\.name), Index(\.owner, \.size)]
        }
    }
    enum OtherIndex {
        @Entity struct Plan {
            var id: Int
            var name: String
            var size: Int?
            var owner: Ref<Storage.Label>
            static let indexes: [Index<Plan>] = [Index(\.name), Index(\.size, \.owner)]
        }
    }
    enum SameOtherwiseWritten {
        @Entity struct Plan {
            var id: Int
            var name: String
            var size: Int?
            var owner: Ref<Storage.Label>
            static let indexes: [Index<Plan>] = [Index(\.owner, \.size), Index(\.name)]
        }
    }

    @Test func theSameDeclarationOpensAgain() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let first = try Store.open(path, Base.Plan.self)
            try first.write { tx in try tx.insert(Base.Plan(id: 1, name: "a", size: nil, owner: Ref("x"))) }
            let catalog = first.engine.schema.catalog
            try first.close()
            for _ in 0..<3 {
                let again = try Store.open(path, Base.Plan.self)
                #expect(again.engine.schema.catalog == catalog)
                #expect(try again.get(Base.Plan.self, id: 1)?.owner.id == "x")
                try again.close()
            }
            let reordered = try Store.open(path, SameOtherwiseWritten.Plan.self)
            #expect(reordered.engine.schema.catalog == catalog)
            try reordered.close()
        }
    }

    @Test func eachDifferenceIsASchemaMismatchThatNamesTheField() throws {
        let others: [(any Entity.Type, String?)] = [
            (Added.Plan.self, "extra"), (Removed.Plan.self, "size"), (Retyped.Plan.self, "size"),
            (Renamed.Plan.self, "name"), (Moved.Plan.self, "size"), (Pointed.Plan.self, "owner"),
            (OtherID.Plan.self, "id"), (OtherIndex.Plan.self, nil),
        ]
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let first = try Store.open(path, Base.Plan.self)
            try first.write { tx in try tx.insert(Base.Plan(id: 1, name: "a", size: 2, owner: Ref("x"))) }
            try first.close()
            for whileOpen in [false, true] {
                let open = whileOpen ? try Store.open(path, Base.Plan.self) : nil
                for (other, field) in others {
                    let error = failure(of: { try Store.open(path, other) }) as? StoreError
                    #expect(error?.code == .schemaMismatch, "\(other)")
                    #expect(error?.place.entity == "Plan", "\(other)")
                    #expect(error?.place.field == field, "\(other)")
                    if let field { #expect(error?.message.contains(field) == true, "\(other)") }
                }
                #expect(try open?.get(Base.Plan.self, id: 1)?.size ?? 2 == 2)
                try open?.close()
            }
            let again = try Store.open(path, Base.Plan.self)
            #expect(try again.get(Base.Plan.self, id: 1)?.size == 2)
            try again.close()
        }
    }

    @Test func anEntityThatWasNotDeclaredIsAnErrorThatNamesIt() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            let calls: [() throws -> Void] = [
                { _ = try store.get(Storage.Label.self, id: "x") },
                { _ = try store.fetch(FetchDescriptor<Storage.Label>()) },
                { _ = try store.count(FetchDescriptor<Storage.Label>()) },
                { try store.write { tx in try tx.insert(Storage.Label(id: "x", rank: nil)) } },
                { try store.write { tx in _ = try tx.delete(Storage.Label.self, id: "x") } },
                { try store.write { tx in _ = try tx.update(Storage.Label.self, id: "x") { _ in } } },
            ]
            for call in calls {
                let error = failure(of: call) as? StoreError
                #expect(error?.code == .unknownEntity && error?.place.entity == "Label")
            }
        }
    }

    @Test func entitiesThatAProgramDoesNotDeclareAreKept() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let both = try Store.open(path, Storage.Note.self, Storage.Label.self)
            try both.write { tx in
                try tx.insert(Storage.Note(id: 1, text: "a"))
                try tx.insert(Storage.Label(id: "x", rank: 4))
            }
            let catalog = both.engine.schema.catalog
            try both.close()
            let one = try Store.open(path, Storage.Note.self)
            #expect(one.engine.schema.catalog == catalog)
            try one.write { tx in try tx.insert(Storage.Note(id: 2, text: "b")) }
            try one.close()
            let again = try Store.open(path, Storage.Label.self, Base.Plan.self)
            #expect(try again.get(Storage.Label.self, id: "x")?.rank == 4)
            let byRank = FetchDescriptor<Storage.Label>(predicate: #Predicate { $0.rank == 4 })
            #expect(try again.ids(byRank) == ["x"])
            #expect(again.engine.schema.catalog.entities.map(\.name) == ["Note", "Label", "Plan"])
            let databases = again.engine.schema.catalog.entities.flatMap { [$0.database] + $0.indexes.map(\.database) }
            #expect(Set(databases).count == databases.count)
            try again.close()
        }
    }

    enum Invalid {
        @Entity struct Twice {
            var id: Int
            var a: Int
            static let indexes: [Index<Twice>] = [Index(\.a), Index(\.a)]
        }
        @Entity struct Same {
            var id: Int
            var a: Int
            static let indexes: [Index<Same>] = [Index(\.a, \.a)]
        }
        @Entity struct Many {
            var id: Int
            var a, b, c, d, e, f, g, h, i, j, k, l: String
            static let indexes: [Index<Many>] = [Index(\.a, \.b, \.c, \.d, \.e, \.f, \.g, \.h, \.i, \.j, \.k, \.l)]
        }
        @Entity struct Whole {
            var id: Int
            var a: [Int]
            static let indexes: [Index<Whole>] = [Index(\.a)]
        }
        @Entity struct Computed {
            var id: Int
            var double: Int { id * 2 }
            static let indexes: [Index<Computed>] = [Index(\.double)]
        }
        typealias MaybeInt = Int?
        @Entity struct Doubly {
            var id: Int
            var a: CatalogTests.Invalid.MaybeInt?
        }
    }

    @Test func declarationsThatContradictThemselvesAreRefused() throws {
        let types: [any Entity.Type] = [
            Invalid.Twice.self, Invalid.Same.self, Invalid.Many.self, Invalid.Whole.self, Invalid.Computed.self,
            Invalid.Doubly.self,
        ]
        for type in types {
            try withTemporaryFolder { (folder) throws in
                let error = failure(of: { try Store.open(folder + "/S.roost", type) }) as? StoreError
                #expect(error?.code == .invalidSchema, "\(type): \(error as Any)")
                #expect(error?.place.entity == type.entityName)
                let store = try Store.open(folder + "/S.roost", Storage.Note.self)
                #expect(store.engine.schema.catalog.entities.map(\.name) == ["Note"])
                try store.close()
            }
        }
    }

    /// A catalog with a right checksum and wrong contents is an error, not a trap.
    @Test func catalogsThatContradictThemselvesAreDamage() throws {
        var random = SeededGenerator()
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(path, Base.Plan.self)
            try store.write { tx in try tx.insert(Base.Plan(id: 1, name: "a", size: 2, owner: Ref("x"))) }
            let healthy = try store.engine.schema.catalog.encoded()
            try store.close()
            let text = String(decoding: healthy[4...], as: UTF8.self)
            let numbers = ["-1", "0", "1", "2", "99", "70000", "9223372036854775807", "-9223372036854775808"]
            let digits = text.matches(of: /\d+/).map(\.range)
            for range in digits {
                var changed = text
                changed.replaceSubrange(range, with: numbers[Int.random(in: 0..<numbers.count, using: &random)])
                try put(catalog: changed, at: path)
                let error = failure {
                    let store = try Store.open(path, Base.Plan.self, Storage.Note.self)
                    defer { try? store.close() }
                    _ = failure(of: { try store.all(Base.Plan.self) })
                    _ = failure(of: {
                        try store.write { tx in try tx.upsert(Base.Plan(id: 2, name: "b", size: 2, owner: Ref("x"))) }
                    })
                }
                #expect(error == nil || error is StoreError, "\(error as Any)")
            }
        }
    }

    private func put(catalog json: String, at path: String) throws {
        let checksum = Array(json.utf8).withUnsafeBytes { Checksum.crc32c($0) }
        let bytes = withUnsafeBytes(of: checksum.littleEndian) { Array($0) } + Array(json.utf8)
        let environment = try Environment.open(
            directory: path, options: Environment.Options(durability: .unsafe), inspect: {},
            prepare: { (environment: Environment) in environment })
        defer { Environment.close(environment) }
        try environment.write { transaction in
            let main = try #require(try environment.openDatabases([(nil, .housekeeping)], in: transaction)[0])
            try MainDatabase(database: main).put(.catalog, bytes, in: transaction)
        }
    }
}
