// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// What all `Store` values of one file share in this process: the environment, the schema, the writer and the bus.
///
/// Mutable state:
/// - `writer`: lets one write run at a time, each on one thread from begin to commit (hazard 12).
@usableFromInline
final class Engine: Sendable {
    let environment: Environment
    let header: StoreHeader
    let main: MainDatabase
    let history: History
    let schema: SchemaRegistry
    let bus: Bus
    let committed: CommittedChanges
    /// Tells this process's commits from others' in the history.
    let origin = UInt64.random(in: 1...UInt64.max)

    let writer = WriterQueue()
    /// Runs asynchronous reads: never more at once than there are readers.
    let readers: ThreadPool
    /// Runs observers' mapping closures.
    let maps: ThreadPool

    /// Opens the file, or joins those who have it open, and registers the entities.
    static func open(
        path: String, options: Store.Options, schemas: [DeclaredEntity]
    ) throws -> (Engine, [StoredEntity]) {
        var environmentOptions = Environment.Options(
            maximumSize: options.maximumSize, isReadOnly: options.isReadOnly, readerLimit: options.readerLimit)
        switch options.durability {
        case .full: environmentOptions.durability = .full
        case .relaxed: environmentOptions.durability = .relaxed
        case .unsafe: environmentOptions.durability = .unsafe
        }
        do {
            return try Environment.open(
                directory: path, options: environmentOptions,
                inspect: { try StoreFile.inspect(path, isReadOnly: options.isReadOnly) },
                prepare: { environment in
                    let engine = try environment.resident { try Engine(environment) }
                    return (engine, try engine.schema.register(schemas))
                })
        } catch let error as Environment.OpenError {
            throw StoreError(error, path: path)
        } catch {
            throw StoreError.wrapping(error, condition: nil)
        }
    }

    private init(_ environment: Environment) throws {
        self.environment = environment
        let file = try StoreFile(environment)
        header = file.header
        main = file.main
        history = file.history
        schema = try SchemaRegistry(environment, file.main, file.catalog, file.generation, file.databases)
        let limit = environment.options.readerLimit
        readers = ThreadPool(name: "roost.read", size: .readers(limit: limit))
        maps = ThreadPool(name: "roost.map", size: .maps(directory: environment.directory))
        committed = CommittedChanges(history: file.history, origin: origin) { [schema] in schema.entity($0) }
        bus = Bus(sequence: file.sequence, source: Self.commits(of: environment, file.main, committed))
    }

    /// Where the bus sees other processes' commits.
    static func commits(
        of environment: Environment, _ main: MainDatabase, _ changes: CommittedChanges
    ) -> Bus.Source {
        Bus.Source(
            newestSnapshot: { environment.newestSnapshotID },
            lastCommit: { try environment.readAside { (try main.sequence(in: $0).sequence, $0.snapshotID) } },
            changes: { sequences, withImages in
                try environment.readAside { try changes.records(of: sequences, withImages: withImages, in: $0) }
            },
            watch: { written in environment.withDescriptor { FileEvents.shared.watch($0, written) } },
            path: environment.directory)
    }

    /// Says that `release` will be called: who opens the file with other options waits for it.
    func announceRelease() { environment.announceClose() }

    /// Gives up one use, which was announced; the last one closes the file.
    func release() { Environment.close(environment, isAnnounced: true) }

    /// The last committed sequence, in a snapshot.
    func sequence(in transaction: Transaction) throws -> UInt64 {
        try main.sequence(in: transaction).sequence
    }
}
