// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
internal import RoostLMDB
import Synchronization

/// What all `Store` values of one file share in this process: the environment, the schema, the writer and the bus.
///
/// Mutable state:
/// - `schema` (mutex): the catalog as last read, with the databases opened for it;
/// - `verifiedSnapshot` (atomic): the newest snapshot whose schema generation was compared;
/// - `writer` (serial queue): runs one write at a time, each on one thread from begin to commit (hazard 12).
@usableFromInline
final class Engine: Sendable {
    let environment: Environment
    let header: StoreHeader
    let main: MainDatabase
    let history: History
    let bus: Bus
    /// Tells this process's commits from others' in the history.
    let origin = UInt64.random(in: 1...UInt64.max)

    private struct Schema {
        var catalog: Catalog
        var generation: UInt64
        var databases: [Int: Database]
        var states: [String: EntityState]
    }

    private let schema: Mutex<Schema>
    private let verifiedSnapshot = Atomic<Int>(-1)
    /// The snapshot that `pollSequence` read last.
    private let polledSnapshot = Atomic<Int>(-1)
    let writer = DispatchQueue(label: "roost.writer")
    /// Runs asynchronous reads: never more at once than there are readers.
    let readers: BoundedExecutor
    private let presence: PresenceLock?

    // MARK: Opening

    static func open(
        path: String, options: Store.Options, schemas: [EntitySchema]
    ) throws -> (Engine, [EntityState]) {
        var environmentOptions = Environment.Options(
            mapSize: options.maximumSize, isReadOnly: options.isReadOnly, readerLimit: options.readerLimit)
        switch options.durability {
        case .full: environmentOptions.durability = .full
        case .relaxed: environmentOptions.durability = .relaxed
        case .unsafe: environmentOptions.durability = .unsafe
        }
        do {
            return try Environment.open(
                directory: path, options: environmentOptions,
                inspect: { try inspect(path) },
                prepare: { environment in
                    let engine = try environment.resident { try Engine(environment) }
                    return (engine, try engine.adopt(schemas))
                })
        } catch let error as Environment.OpenError {
            throw StoreError(error, path: path)
        } catch {
            throw StoreError.wrapping(error, engine: nil)
        }
    }

    private init(_ environment: Environment) throws {
        self.environment = environment
        let path = environment.directory
        presence = environment.options.isReadOnly ? nil : try PresenceLock(directory: path)
        let opened = try environment.readToOpen { transaction in
            try Self.load(environment, transaction, path: path)
        }
        let loaded: Loaded
        if let opened {
            loaded = opened
        } else {
            guard !environment.options.isReadOnly else {
                throw StoreError(.notAStore, "\(path) is not a Roost store: its file is empty.", path: path)
            }
            try environment.write { transaction in
                // Another process may have made it between the two transactions.
                let databases = try environment.openDatabases(
                    [(nil, .housekeeping), (MainDatabase.historyName, .housekeeping)], in: transaction)
                guard let database = databases[0] else { return }
                let main = MainDatabase(database: database)
                if try main.get(.header, in: transaction) != nil { return }
                try main.put(.header, StoreHeader().bytes, in: transaction)
                try main.put(.catalog, try Catalog().encoded(), in: transaction)
                try main.setCount(.generation, 1, in: transaction)
                try main.setSequence(0, nonce: 0, in: transaction)
            }
            let made = try environment.readToOpen { transaction in
                try Self.load(environment, transaction, path: path)
            }
            guard let made else { throw StoreError(.damaged, "The header of \(path) is missing.", path: path) }
            loaded = made
        }
        header = loaded.header
        main = loaded.main
        history = loaded.history
        schema = Mutex(
            Schema(
                catalog: loaded.catalog, generation: loaded.generation, databases: loaded.databases,
                states: try Self.states(loaded.catalog, loaded.databases)))
        readers = BoundedExecutor(label: "roost.readers", limit: environment.options.readerLimit)
        bus = Bus(sequence: loaded.sequence)
        polledSnapshot.store(loaded.snapshot, ordering: .relaxed)
    }

    private struct Loaded {
        var header: StoreHeader
        var main: MainDatabase
        var history: History
        var catalog: Catalog
        var generation: UInt64
        var sequence: UInt64
        var snapshot: Int
        var databases: [Int: Database]
    }

    /// Reads header and catalog and opens every database (hazard 15). Nil for an empty file.
    private static func load(
        _ environment: Environment, _ transaction: Transaction, path: String
    ) throws -> Loaded? {
        guard let database = try environment.openDatabases([(nil, .housekeeping)], in: transaction)[0] else {
            return nil
        }
        let main = MainDatabase(database: database)
        guard let headerBytes = try main.get(.header, in: transaction) else {
            guard try transaction.statistics(of: database).entries == 0 else {
                throw StoreError(
                    .notAStore, "\(path) is not a Roost store, but an LMDB file of another program.", path: path)
            }
            return nil
        }
        let header = try StoreHeader(Array(headerBytes), path: path)
        guard let catalogBytes = try main.get(.catalog, in: transaction) else {
            throw StoreError(.damaged, "The catalog of \(path) is missing.", path: path)
        }
        let catalog = try Catalog(bytes: catalogBytes)
        let wanted = databaseNumbers(of: catalog)
        let handles = try environment.openDatabases(
            [(MainDatabase.historyName, .housekeeping)]
                + wanted.map { (MainDatabase.name(ofDatabase: $0.number), $0.role) }, in: transaction)
        guard let history = handles[0] else {
            throw StoreError(.damaged, "The history of \(path) is missing.", path: path)
        }
        var databases: [Int: Database] = [:]
        for (index, (number, _)) in wanted.enumerated() { databases[number] = handles[index + 1] }
        return Loaded(
            header: header, main: main, history: History(database: history), catalog: catalog,
            generation: try main.count(.generation, in: transaction),
            sequence: try main.sequence(in: transaction).sequence, snapshot: transaction.snapshotID,
            databases: databases)
    }

    private static func databaseNumbers(of catalog: Catalog) -> [(number: Int, role: Database.Role)] {
        catalog.entities.flatMap { entity in
            [(entity.database, Database.Role.records)] + entity.indexes.map { ($0.database, .index) }
        }
    }

    private static func states(_ catalog: Catalog, _ databases: [Int: Database]) throws -> [String: EntityState] {
        var states: [String: EntityState] = [:]
        for entity in catalog.entities { states[entity.name] = try EntityState(entity, databases: databases) }
        return states
    }

    /// Looks at the file before LMDB does (hazard 27).
    static func inspect(_ path: String) throws {
        try probing(path) { file in
            guard let entry = try FileProbe.firstEntry(of: file) else { return }
            guard entry.key == MainDatabase.Key.header.bytes else {
                throw StoreError(
                    .notAStore, "\(path) is not a Roost store, but an LMDB file of another program.", path: path)
            }
            _ = try StoreHeader(entry.value, path: path)
        }
    }

    /// Runs `body` on the data file's path. Another process may be creating the file at this moment, so a finding that
    /// would then be passing is looked at again (hazard 33).
    static func probing<Result>(_ path: String, _ body: (String) throws -> Result) throws -> Result {
        let file = Environment.dataFile(in: path)
        var attempt = 0
        while true {
            do {
                return try body(file)
            } catch let finding as FileProbe.Finding {
                attempt += 1
                if attempt >= 5 { throw StoreError(finding, path: path) }
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }

    /// Gives up one use; the last one closes the file.
    func release() {
        bus.drain()
        Environment.close(environment)
    }

    // MARK: Schema

    /// The states of the declared entities; adds to the catalog those that it does not know.
    private func adopt(_ schemas: [EntitySchema]) throws -> [EntityState] {
        try environment.read { try verifyGeneration($0) }
        var catalog = schema.withLock { $0.catalog }
        var changed = false
        for schema in schemas { changed = try catalog.adopt(schema) || changed }
        if changed {
            guard !environment.options.isReadOnly else { throw StoreError.readOnly }
            let before = schema.withLock { $0 }
            var snapshot = 0
            let after = try environment.write { transaction -> Schema in
                snapshot = transaction.snapshotID
                // The file's catalog, not ours, is the truth: another process may have added entities.
                guard let bytes = try main.get(.catalog, in: transaction) else {
                    throw StoreError(.damaged, "The store's catalog is missing.")
                }
                var catalog = try Catalog(bytes: bytes)
                for schema in schemas { _ = try catalog.adopt(schema) }
                var databases = before.databases
                let wanted = Self.databaseNumbers(of: catalog).filter { databases[$0.number] == nil }
                let handles = try environment.openDatabases(
                    wanted.map { (MainDatabase.name(ofDatabase: $0.number), $0.role) }, in: transaction)
                for (index, (number, _)) in wanted.enumerated() { databases[number] = handles[index] }
                let generation = try main.count(.generation, in: transaction) + 1
                try main.put(.catalog, try catalog.encoded(), in: transaction)
                try main.setCount(.generation, generation, in: transaction)
                return Schema(
                    catalog: catalog, generation: generation, databases: databases,
                    states: try Self.states(catalog, databases))
            }
            noteOwnCommit(snapshot)
            schema.withLock { known in
                // States that are in use stay the same objects.
                let kept = known.states
                known = after
                known.states.merge(kept) { _, old in old }
            }
        }
        let states = schema.withLock { $0.states }
        return try schemas.map { schema in
            guard let state = states[schema.name] else { throw StoreError.unknownEntity(schema.name) }
            return state
        }
    }

    /// Compares the file's schema generation with the one known here, once a snapshot (about 40 ns when it is new, a load
    /// when it is not). Entities added by another process change nothing for this one; a change to one that this process
    /// uses is an error.
    func verifyGeneration(_ transaction: Transaction) throws {
        let snapshot = transaction.snapshotID
        if snapshot == verifiedSnapshot.load(ordering: .relaxed) { return }
        let generation = try main.count(.generation, in: transaction)
        if generation != schema.withLock({ $0.generation }) {
            guard let bytes = try main.get(.catalog, in: transaction) else {
                throw StoreError(.damaged, "The store's catalog is missing.")
            }
            let catalog = try Catalog(bytes: bytes)
            try schema.withLock { known in
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

    /// Every entity of the catalog, also those that this program does not declare, by name.
    var allStates: [EntityState] { schema.withLock { $0.states.values.sorted { $0.name < $1.name } } }
    var catalog: Catalog { schema.withLock { $0.catalog } }

    // MARK: Writing

    /// Runs `body` in the store's one write transaction, on the writer's queue, while the caller waits.
    func write<Result>(_ body: (WriteSession) throws -> Result) throws -> Result {
        guard !environment.options.isReadOnly else { throw StoreError.readOnly }
        guard !environment.isWritingOnThisThread else { throw StoreError.nestedWrite }
        return try writer.sync { try perform(body) }
    }

    /// Commits `body` and publishes the commit. On the writer's queue.
    func perform<Result>(_ body: (WriteSession) throws -> Result) throws -> Result {
        do {
            var commit: CommitRecord?
            var snapshot = 0
            let result = try environment.write { transaction in
                snapshot = transaction.snapshotID
                try verifyGeneration(transaction)
                let last = try main.sequence(in: transaction).sequence
                let session = WriteSession(
                    engine: self, transaction: transaction, keepsNewImages: bus.wantsImages)
                let result = try body(session)
                let changes = try session.finish()
                if !changes.isEmpty {
                    bus.willCommit(last + 1)
                    let nonce = UInt64.random(in: .min ... .max)
                    try main.setSequence(last + 1, nonce: nonce, in: transaction)
                    var size = try main.count(.historySize, in: transaction)
                    try history.append(
                        sequence: last + 1, nonce: nonce, origin: origin, changes: changes, size: &size,
                        in: transaction)
                    try main.setCount(.historySize, size, in: transaction)
                    commit = CommitRecord(sequences: (last + 1)...(last + 1), isForeign: false, changes: changes)
                }
                return result
            }
            noteOwnCommit(snapshot)
            if let commit { bus.publish(commit) } else { bus.abandon() }
            reportLongReader()
            return result
        } catch {
            bus.abandon()
            throw StoreError.wrapping(error, engine: self)
        }
    }

    /// A commit of this process made `snapshot`. When nobody else committed since the one before, there is no need to look
    /// for others' commits.
    private func noteOwnCommit(_ snapshot: Int) {
        guard environment.newestSnapshotID == snapshot else { return }
        _ = polledSnapshot.compareExchange(expected: snapshot - 1, desired: snapshot, ordering: .relaxed)
    }

    /// The last sequence in the file, when there was a commit since this was last asked; without one it costs no
    /// transaction.
    func pollSequence() -> UInt64? { environment.newestSnapshotID.flatMap { pollSequence(newest: $0) } }

    /// `newest` may be ahead of what can be read: a committing process writes the snapshot's number, waits for the disk,
    /// and only then lets readers begin with it. What counts as seen is therefore what was read.
    func pollSequence(newest: Int) -> UInt64? {
        if newest == polledSnapshot.load(ordering: .relaxed) { return nil }
        return try? environment.read { transaction in
            polledSnapshot.store(transaction.snapshotID, ordering: .relaxed)
            return try main.sequence(in: transaction).sequence
        }
    }

    /// The last committed sequence, in a snapshot.
    func sequence(in transaction: Transaction) throws -> UInt64 {
        try main.sequence(in: transaction).sequence
    }

    /// In debug builds, a reader that has lived through a commit for longer than this is reported, with where it began
    /// (hazard 10): while it lives the file can only grow.
    static let longReaderMilliseconds: UInt64 = 10_000

    private func reportLongReader() {
        #if DEBUG
            if let oldest = environment.oldestReader, oldest.age > Self.longReaderMilliseconds {
                let place = oldest.origin.map { " It began at \($0.file):\($0.line)." } ?? ""
                Diagnostics.report(
                    .longReader, "A read transaction has been open for \(oldest.age) ms.\(place)")
            }
        #endif
    }
}
