// SPDX-License-Identifier: Apache-2.0

import Dispatch
internal import RoostLMDB
import Synchronization

/// What all `Store` values of one file share in this process: the environment, the schema, the writer and the bus.
///
/// Mutable state:
/// - `polledSnapshot` (atomic): see there;
/// - `writer` (serial queue): runs one write at a time, each on one thread from begin to commit (hazard 12).
@usableFromInline
final class Engine: Sendable {
    let environment: Environment
    let header: StoreHeader
    let main: MainDatabase
    let history: History
    let schema: SchemaRegistry
    let bus: Bus
    /// Tells this process's commits from others' in the history.
    let origin = UInt64.random(in: 1...UInt64.max)

    /// The snapshot that `pollSequence` read last.
    let polledSnapshot: Atomic<Int>
    let writer = DispatchQueue(label: "roost.writer")
    /// Runs asynchronous reads: never more at once than there are readers.
    let readers: BoundedExecutor
    private let presence: PresenceLock?

    /// Opens the file, or joins those who have it open, and registers the entities.
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
                inspect: { try StoreFile.inspect(path) },
                prepare: { environment in
                    let engine = try environment.resident { try Engine(environment) }
                    let before = environment.newestSnapshotID ?? 0
                    let states = try engine.schema.register(schemas)
                    if environment.newestSnapshotID == before + 1 { engine.noteOwnCommit(before + 1) }
                    return (engine, states)
                })
        } catch let error as Environment.OpenError {
            throw StoreError(error, path: path)
        } catch {
            throw StoreError.wrapping(error, engine: nil)
        }
    }

    private init(_ environment: Environment) throws {
        self.environment = environment
        presence = environment.options.isReadOnly ? nil : try PresenceLock(directory: environment.directory)
        let file = try StoreFile(environment)
        header = file.header
        main = file.main
        history = file.history
        schema = try SchemaRegistry(environment, file.main, file.catalog, file.generation, file.databases)
        readers = BoundedExecutor(label: "roost.readers", limit: environment.options.readerLimit)
        bus = Bus(sequence: file.sequence)
        polledSnapshot = Atomic(file.snapshot)
    }

    /// Gives up one use; the last one closes the file.
    func release() {
        bus.drain()
        Environment.close(environment)
    }

    /// The last committed sequence, in a snapshot.
    func sequence(in transaction: Transaction) throws -> UInt64 {
        try main.sequence(in: transaction).sequence
    }

    // MARK: Other processes' commits

    /// A commit of this process made `snapshot`. When nobody else committed since the one before, there is no need to look
    /// for others' commits.
    func noteOwnCommit(_ snapshot: Int) {
        guard environment.newestSnapshotID == snapshot else { return }
        _ = polledSnapshot.compareExchange(expected: snapshot - 1, desired: snapshot, ordering: .relaxed)
    }

    /// The last sequence in the file, when there was a commit since this was last asked; without one it costs no
    /// transaction.
    func pollSequence() -> UInt64? { environment.newestSnapshotID.flatMap { pollSequence(newest: $0) } }

    /// `newest` may be ahead of what can be read: a committing process writes the snapshot's number, waits for the disk,
    /// and only then lets readers begin with it. What counts as seen is therefore what was read.
    ///
    /// Not inside a write: a read would join it, and a snapshot that is not committed yet counts as nobody's.
    func pollSequence(newest: Int) -> UInt64? {
        if environment.isWritingOnThisThread { return nil }
        if newest == polledSnapshot.load(ordering: .relaxed) { return nil }
        return try? environment.read { transaction in
            polledSnapshot.store(transaction.snapshotID, ordering: .relaxed)
            return try main.sequence(in: transaction).sequence
        }
    }
}
