// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB
import Synchronization

/// What this process knows of the file's schema: the catalog as last read, and the databases opened for it.
///
/// Mutable state:
/// - `known` (mutex): the catalog, its generation, the open databases and the states of its entities;
/// - `verifiedSnapshot` (atomic): the newest snapshot whose schema generation was compared.
final class SchemaRegistry: Sendable {
    private struct Known {
        var catalog: Catalog
        var generation: UInt64
        var databases: [Int: Database]
        var states: [String: EntityState]
    }

    private let environment: Environment
    private let main: MainDatabase
    private let known: Mutex<Known>
    private let verifiedSnapshot = Atomic<Int>(-1)

    init(
        _ environment: Environment, _ main: MainDatabase, _ catalog: Catalog, _ generation: UInt64,
        _ databases: [Int: Database]
    ) throws {
        self.environment = environment
        self.main = main
        known = Mutex(
            Known(
                catalog: catalog, generation: generation, databases: databases,
                states: try Self.states(catalog, databases)))
    }

    var catalog: Catalog { known.withLock { $0.catalog } }
    /// Every entity of the catalog, also those that this program does not declare, by name.
    var states: [EntityState] { known.withLock { $0.states.values.sorted { $0.name < $1.name } } }

    /// The states of the declared entities; adds to the catalog those that it does not know.
    func register(_ schemas: [EntitySchema]) throws -> [EntityState] {
        try environment.read { try verify($0) }
        var catalog = self.catalog
        var changed = false
        for schema in schemas { changed = try catalog.register(schema) || changed }
        if changed {
            guard !environment.options.isReadOnly else { throw StoreError.readOnly }
            let before = known.withLock { $0 }
            let after = try environment.write { transaction -> Known in
                // The file's catalog, not ours, is the truth: another process may have added entities.
                guard let bytes = try main.get(.catalog, in: transaction) else {
                    throw StoreError(.damaged, "The store's catalog is missing.")
                }
                var catalog = try Catalog(bytes: bytes)
                for schema in schemas { _ = try catalog.register(schema) }
                let databases = try Self.openDatabases(of: catalog, beside: before.databases, environment, transaction)
                let generation = try main.generation(in: transaction) + 1
                try main.put(.catalog, try catalog.encoded(), in: transaction)
                try main.setCount(.generation, generation, in: transaction)
                return Known(
                    catalog: catalog, generation: generation, databases: databases,
                    states: try Self.states(catalog, databases))
            }
            known.withLock { known in
                // States that are in use stay the same objects.
                let kept = known.states
                known = after
                known.states.merge(kept) { _, old in old }
            }
        }
        let states = known.withLock { $0.states }
        return try schemas.map { schema in
            guard let state = states[schema.name] else { throw StoreError.unknownEntity(schema.name) }
            return state
        }
    }

    /// Compares the file's schema generation with the one known here, once a snapshot (about 40 ns when it is new, a load
    /// when it is not). Entities added by another process change nothing for this one; a change to one that this process
    /// uses is an error.
    func verify(_ transaction: Transaction) throws {
        let snapshot = transaction.snapshotID
        if snapshot == verifiedSnapshot.load(ordering: .relaxed) { return }
        let generation = try main.generation(in: transaction)
        if generation != known.withLock({ $0.generation }) {
            guard let bytes = try main.get(.catalog, in: transaction) else {
                throw StoreError(.damaged, "The store's catalog is missing.")
            }
            let catalog = try Catalog(bytes: bytes)
            try known.withLock { known in
                for entity in known.catalog.entities where catalog.entity(named: entity.name) != entity {
                    throw StoreError(
                        .schemaMismatch,
                        "Another process has changed entity \(entity.name): close the store and open it again.",
                        entity: entity.name)
                }
                known.generation = generation
            }
        }
        if !transaction.isWrite { verifiedSnapshot.store(snapshot, ordering: .relaxed) }
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

    private static func states(_ catalog: Catalog, _ databases: [Int: Database]) throws -> [String: EntityState] {
        var states: [String: EntityState] = [:]
        for entity in catalog.entities { states[entity.name] = try EntityState(entity, databases: databases) }
        return states
    }
}
