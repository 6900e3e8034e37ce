// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostLMDB
import RoostTestSupport

/// The entities of the storage tests, apart from those of other tests.
enum Storage {
    /// The same as the helper's.
    @Entity struct Note: Equatable {
        var id: Int
        var text: String
        static let indexes: [Index<Note>] = [Index(\.text)]
    }

    @Entity struct Label: Equatable {
        var id: String
        var rank: Double?
        static let indexes: [Index<Label>] = [Index(\.rank)]
    }
}

extension Store {
    static let fast = Options(durability: .unsafe)

    static func open(_ path: String, options: Options = fast, _ entities: any Entity.Type...) throws -> Store {
        try open(at: URL(fileURLWithPath: path), options: options, entities: entities)
    }

    /// Opens a store in a folder of its own, runs `body` and closes it.
    static func withTemporary(
        options: Options = fast, _ entities: any Entity.Type..., body: (Store) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            let store = try open(at: URL(fileURLWithPath: folder + "/Test.roost"), options: options, entities: entities)
            try body(store)
            try store.close()
        }
    }

    /// The asynchronous form.
    static func withTemporary(
        options: Options = fast, _ entities: any Entity.Type..., body: (Store) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let url = URL(fileURLWithPath: folder + "/Test.roost")
            let store = try await Task { try Store.open(at: url, options: options, entities: entities) }.value
            try await body(store)
            try store.close()
        }
    }

    func all<T: Entity>(_ type: T.Type) throws -> [T] { try fetch(FetchDescriptor<T>()) }

    /// The last commit's number.
    func lastSequence() throws -> UInt64 { try engine.environment.read { try engine.sequence(in: $0) } }

    func historyEntry(_ sequence: UInt64) throws -> History.Entry? {
        try engine.environment.read { try engine.history.entry(sequence, in: $0) }
    }

    func state(_ name: String) throws -> StoredEntity {
        guard let state = engine.schema.entities.first(where: { $0.name == name }) else {
            throw StoreError.unknownEntity(name)
        }
        return state
    }

    /// The stored bytes of a record.
    func record<ID: EntityID>(_ entity: String, _ id: ID) throws -> [UInt8]? {
        let state = try state(entity)
        return try engine.environment.read { transaction in
            try id.withKey { try transaction.get(state.records, $0).map { Array($0) } }
        }
    }

    /// Puts bytes in the place of a record, past everything that would keep them right.
    func overwrite<ID: EntityID>(_ entity: String, _ id: ID, with bytes: [UInt8]) throws {
        let state = try state(entity)
        try engine.environment.write { transaction in
            try id.withKey { key in
                _ = try bytes.withUnsafeBytes { try transaction.put(state.records, key: key, value: $0) }
            }
        }
    }
}

func code(_ error: (any Error)?) -> StoreError.Code? { (error as? StoreError)?.code }

extension Store {
    /// All entries of the entity's indexes, and how many cut keys each is said to have.
    func indexEntries(_ entity: String) throws -> [[[UInt8]]] {
        let state = try state(entity)
        return try engine.environment.read { transaction in
            try state.indexes.map { index in
                var keys: [[UInt8]] = []
                var cursor = try transaction.cursor(index.database)
                try cursor.forEach { key, _ in keys.append(Array(key)) }
                let inexact = try engine.main.count(.inexactKeys(of: index.databaseNumber), in: transaction)
                return keys + [withUnsafeBytes(of: inexact) { Array($0) }]
            }
        }
    }
}
