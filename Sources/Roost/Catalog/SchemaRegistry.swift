// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB
import Synchronization

/// What this process knows of the file's schema: the catalog as last read, and the databases opened for it.
///
/// Mutable state:
/// - `known` (mutex): the catalog, its generation, the open databases and its entities;
/// - `verifiedSnapshot` (atomic): the newest snapshot whose schema generation was compared;
/// - `opening` (lock): held while databases are opened and `known` is replaced. Nobody who holds it waits for a reader, and
///   no reader waits for it.
final class SchemaRegistry: Sendable {
    private struct Known {
        var catalog: Catalog
        var generation: UInt64
        /// A later generation whose catalog is known to have changed nothing of this one.
        var harmless: UInt64 = 0
        var databases: [Int: Database]
        var entities: [String: StoredEntity]

        /// What is known once the file has another catalog. Entities that are in use stay the same objects. Throws
        /// `schemaMismatch` when an entity was changed or removed.
        func followed(
            by catalog: Catalog, _ generation: UInt64, _ databases: [Int: Database]
        ) throws -> Known {
            try verifyUnchanged(in: catalog)
            var entities = entities
            for entity in catalog.entities where entities[entity.name] == nil {
                entities[entity.name] = try StoredEntity(entity, of: catalog, databases: databases)
            }
            return Known(catalog: catalog, generation: generation, databases: databases, entities: entities)
        }

        /// Throws `schemaMismatch` when an entity was changed or removed.
        func verifyUnchanged(in catalog: Catalog) throws {
            for entity in self.catalog.entities where catalog.entity(named: entity.name) != entity {
                throw StoreError(
                    .schemaMismatch,
                    "Another process has changed entity \(entity.name): close the store and open it again.",
                    entity: entity.name)
            }
            guard self.catalog.entities.isEmpty || self.catalog.unicode == catalog.unicode else {
                throw StoreError(
                    .schemaMismatch,
                    "Another process has made the store's text keys anew: close the store and open it again.")
            }
        }
    }

    private let environment: Environment
    private let main: MainDatabase
    private let known: Mutex<Known>
    private let verifiedSnapshot = Atomic<Int>(-1)
    private let opening = NSLock()

    init(
        _ environment: Environment, _ main: MainDatabase, _ catalog: Catalog, _ generation: UInt64,
        _ databases: [Int: Database]
    ) throws {
        self.environment = environment
        self.main = main
        let nothing = Known(catalog: Catalog(), generation: 0, databases: [:], entities: [:])
        known = Mutex(try nothing.followed(by: catalog, generation, databases))
    }

    var catalog: Catalog { known.withLock { $0.catalog } }
    /// The entity of that number, if it is known here.
    func entity(_ number: Int) -> StoredEntity? {
        known.withLock { known in known.entities.values.first { $0.number == number } }
    }
    /// Every entity of the catalog, also those that this program does not declare, by name.
    var entities: [StoredEntity] { known.withLock { $0.entities.values.sorted { $0.name < $1.name } } }

    /// The declared entities as stored; adds to the catalog those that it does not know. Must not be called inside a
    /// transaction of this file.
    func register(_ schemas: [DeclaredEntity]) throws -> [StoredEntity] {
        try refresh()
        var catalog = self.catalog
        var changed = false
        for schema in schemas { changed = try catalog.register(schema) || changed }
        if changed {
            guard !environment.options.isReadOnly else { throw StoreError.readOnly }
            try add(schemas)
        }
        let entities = known.withLock { $0.entities }
        return try schemas.map { schema in
            guard let entity = entities[schema.name] else { throw StoreError.unknownEntity(schema.name) }
            return entity
        }
    }

    private func add(_ schemas: [DeclaredEntity]) throws {
        var isOpening = false
        defer { if isOpening { opening.unlock() } }
        let after = try environment.write { transaction -> Known in
            // Few bytes, without which a store that is full could not be opened, and so nothing in it deleted.
            transaction.isHeldToLimit = false
            // Until the commit: who opens databases in parallel gets the same handles (hazard 15). Always after the
            // writer's lock, never before it.
            opening.lock()
            isOpening = true
            // The file's catalog, not ours, is the truth: another process may have added entities.
            let before = known.withLock { $0 }
            var catalog = try readCatalog(transaction)
            for schema in schemas { _ = try catalog.register(schema) }
            let databases = try Self.openDatabases(of: catalog, beside: before.databases, environment, transaction)
            let generation = try main.generation(in: transaction) + 1
            try main.put(.catalog, try catalog.encoded(), in: transaction)
            try main.setCount(.generation, generation, in: transaction)
            return try before.followed(by: catalog, generation, databases)
        }
        known.withLock { $0 = after }
    }

    /// Compares the file's schema generation with the one known here, once a snapshot (about 40 ns when it is new, a load
    /// when it is not). A change to an entity that is known is an error.
    ///
    /// A write also makes known what another process has added. A read does not: it needs none of it, and would have to begin
    /// another transaction, which may have to wait for the end of this one (see `Environment.followMapSize`).
    func verify(_ transaction: Transaction) throws {
        let snapshot = transaction.snapshotID
        if snapshot == verifiedSnapshot.load(ordering: .relaxed) { return }
        let generation = try main.generation(in: transaction)
        let (last, harmless) = known.withLock { ($0.generation, $0.harmless) }
        // An older snapshot has nothing to tell.
        if transaction.isWrite {
            if generation > last { try openAdded() }
            // A write's number is nobody's until it has committed (hazard 39).
            return
        }
        if generation > max(last, harmless) {
            try verifyHeader(transaction)
            let catalog = try readCatalog(transaction)
            try known.withLock { $0 }.verifyUnchanged(in: catalog)
            known.withLock { $0.harmless = max($0.harmless, generation) }
        }
        verifiedSnapshot.store(snapshot, ordering: .relaxed)
    }

    /// Makes known what other processes have added. A few microseconds when that is nothing. Outside of transactions it waits
    /// where the file has outgrown this process's map, and inside a read it throws `storeBusy` then.
    func refresh() throws {
        // A peer may let the file grow again meanwhile, but not for ever.
        for _ in 0..<8 {
            do {
                return try openAdded()
            } catch Environment.UseError.lmdb(let error) where error.isMapResized {
                try environment.followMapSize()
            }
        }
        try openAdded()
    }

    /// Reads the file's catalog, and opens the databases that others have added, in a transaction of its own.
    private func openAdded() throws {
        try opening.withLock {
            let before = known.withLock { $0 }
            let after = try environment.readToOpen(followsMap: false) { transaction -> Known? in
                let generation = try main.generation(in: transaction)
                if generation == before.generation { return nil }
                // A newer version may have begun to use features that this one does not know.
                try verifyHeader(transaction)
                let catalog = try readCatalog(transaction)
                let databases = try Self.openDatabases(of: catalog, beside: before.databases, environment, transaction)
                return try before.followed(by: catalog, generation, databases)
            }
            if let after { known.withLock { $0 = after } }
        }
    }

    private func verifyHeader(_ transaction: Transaction) throws {
        let path = environment.directory
        guard let bytes = try main.get(.header, in: transaction) else {
            throw StoreError(.damaged, "The header of \(path) is missing.", path: path)
        }
        let header = try StoreHeader(Array(bytes), path: path)
        if !environment.options.isReadOnly { try header.verifyWritable(path: path) }
    }

    private func readCatalog(_ transaction: Transaction) throws -> Catalog {
        guard let bytes = try main.get(.catalog, in: transaction) else {
            throw StoreError(.damaged, "The store's catalog is missing.")
        }
        return try Catalog(bytes: bytes)
    }

    /// Opens the catalog's databases that are not open yet (hazard 15: `transaction` must be committed).
    static func openDatabases(
        of catalog: Catalog, beside open: [Int: Database], _ environment: Environment, _ transaction: Transaction
    ) throws -> [Int: Database] {
        let wanted = catalog.entities.flatMap { entity in
            [(number: entity.database, role: Database.Role.records)]
                + entity.indexes.map { (number: $0.database, role: .index) }
        }.filter { open[$0.number] == nil }
        let handles = try environment.openDatabases(
            wanted.map { (MainDatabase.name(ofDatabase: $0.number), $0.role) }, in: transaction)
        var databases = open
        for (index, (number, _)) in wanted.enumerated() { databases[number] = handles[index] }
        return databases
    }
}
