// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB
import Synchronization

/// An open store: a directory with a file of objects, shared by any number of threads and processes.
///
/// ```swift
/// let store = try await Store.open(at: url, entities: City.self, Country.self)
/// try await store.write { tx in try tx.insert(city) }
/// let city = try await store.get(City.self, id: 42)
/// ```
///
/// Readers see the last commit at the moment they begin, and never wait for the writer. Writers run one at a time, each in
/// one atomic transaction. A read inside a transaction of the same store, on its thread, is part of that transaction.
///
/// Every operation has a synchronous form, which runs on the caller's thread (a write: while the caller waits), and an
/// asynchronous one, which runs on a thread of the store's and suspends the caller. In an asynchronous function Swift
/// takes the latter.
///
/// Opening a store that is open in this process already, by whatever path, shares everything but the `Store` value.
public final class Store: Sendable {
    // Mutable state: `closed` (atomic), whether `close` was called; `lifecycle` (mutex), who is to be told of it.

    /// What a power failure can take. A crash of the program alone takes nothing in any mode.
    public enum Durability: Sendable {
        /// A commit returns when it is on the disk (two fsyncs).
        case full
        /// The last commit may be lost, the file is never damaged (one fsync).
        case relaxed
        /// Anything may be lost and the file damaged: for benchmarks and data that can be made again (no fsync).
        case unsafe
    }

    private struct Lifecycle {
        var observations: [ObjectIdentifier: any Closable] = [:]
    }

    let engine: Engine
    let bindings: BindingTable
    private let lifecycle = Mutex(Lifecycle())
    /// Written under `lifecycle`; read by every operation without it.
    private let closed = Atomic<Bool>(false)

    private init(engine: Engine, bindings: BindingTable) {
        self.engine = engine
        self.bindings = bindings
    }

    deinit { close(inBackground: true) }

    // MARK: Opening

    /// Opens the store at `url`, a directory by custom named `Name.roost`, and creates it where there is none.
    ///
    /// The directory that holds it must exist. Throws `notFound` where it does not, `invalidOptions`, `permissionDenied`,
    /// `damaged`, `newerFormat`, and `alreadyOpen` when this process has the store open with other options or another has
    /// taken it for itself. Runs on this thread; takes a few milliseconds, no longer for a large file.
    ///
    /// Entities that the store does not know are added to its catalog, in a write, which waits for other writers. One that
    /// it knows otherwise throws `schemaMismatch`; a path that is not a store's throws `notAStore`, and nothing at it is
    /// touched.
    public static func open(
        at url: URL, options: Options = Options(), entities: any Entity.Type...
    ) throws -> Store {
        try open(at: url, options: options, entities: entities)
    }

    /// The asynchronous form: runs on a thread of Roost's.
    public static func open(
        at url: URL, options: Options = Options(), entities: any Entity.Type...
    ) async throws -> Store {
        try await opening.run { try open(at: url, options: options, entities: entities) }
    }

    /// Threads for what may wait for other processes; one cannot be of the store's own while it is opened or closed.
    private static let opening = ThreadPool(name: "roost.open", size: .init(steady: 64, limit: 64))

    static func open(at url: URL, options: Options, entities: [any Entity.Type]) throws -> Store {
        guard url.isFileURL else {
            throw StoreError(.notFound, "A store is a directory: \(url) is not a file URL.", path: url.absoluteString)
        }
        try options.verify()
        let path = url.path
        try verifyPlace(path)
        var schemas: [DeclaredEntity] = []
        for entity in entities { schemas.append(try DeclaredEntity(entity)) }
        let (engine, stored) = try Engine.open(path: path, options: options, schemas: schemas)
        var bindings: [EntityBinding] = []
        for (entity, stored) in zip(entities, stored) { bindings.append(EntityBinding(entity, entity: stored)) }
        return Store(engine: engine, bindings: BindingTable(bindings))
    }

    /// Refuses what would make a new store in the middle of somebody else's files.
    private static func verifyPlace(_ path: String) throws {
        let files = FileManager.default
        var isDirectory: ObjCBool = false
        guard files.fileExists(atPath: path, isDirectory: &isDirectory) else { return }
        guard isDirectory.boolValue else {
            throw StoreError(.notAStore, "\(path) is not a Roost store: a store is a directory.", path: path)
        }
        guard let names = try? files.contentsOfDirectory(atPath: path), !names.contains("data.mdb") else { return }
        guard names.allSatisfy({ $0 == "lock.mdb" }) else {
            throw StoreError(.notAStore, "\(path) is not a Roost store, but a directory with other files.", path: path)
        }
    }

    // MARK: Closing

    /// Closes the store: its observations end, and the last `Store` of a file waits for the running transactions and closes
    /// it. Later use throws `storeClosed`. Closing twice does nothing. Throws `storeBusy` inside one of the store's own
    /// transactions, which would wait for itself. A store that is released without it closes by itself.
    public func close() throws {
        guard !engine.environment.isBusyOnThisThread else {
            throw StoreError(.storeBusy, "The store cannot be closed from inside one of its own transactions.")
        }
        close(inBackground: false)
    }

    private func close(inBackground: Bool) {
        let observations = lifecycle.withLock { state -> [any Closable]? in
            if closed.exchange(true, ordering: .sequentiallyConsistent) { return nil }
            let observations = Array(state.observations.values)
            state.observations = [:]
            return observations
        }
        guard let observations else { return }
        let engine = engine
        engine.announceRelease()
        for observation in observations { observation.close() }
        if inBackground {
            // The last reference may go away anywhere, also inside a transaction, which must not wait for itself. On a
            // thread of its own: those that open stores may all be waiting for this one.
            if !NativeThread.start("roost.close", { engine.release() }), !engine.environment.isBusyOnThisThread {
                engine.release()
            }
        } else {
            engine.release()
        }
    }

    var isClosed: Bool { closed.load(ordering: .acquiring) }

    @usableFromInline
    func verifyOpen() throws {
        if isClosed { throw StoreError.storeClosed }
    }

    /// Ties an observation's life to the store's. Throws when the store is closed already.
    func add(_ observation: any Closable) throws {
        try lifecycle.withLock { state in
            if isClosed { throw StoreError.storeClosed }
            state.observations[ObjectIdentifier(observation)] = observation
        }
    }

    func remove(_ observation: any Closable) {
        lifecycle.withLock { _ = $0.observations.removeValue(forKey: ObjectIdentifier(observation)) }
    }

    // MARK: Entities

    func binding<T: Entity>(of type: T.Type) throws -> EntityBinding {
        try binding(ObjectIdentifier(type), T.entityName)
    }

    func binding(_ type: ObjectIdentifier, _ name: @autoclosure () -> String) throws -> EntityBinding {
        guard let binding = bindings[type] else { throw StoreError.unknownEntity(name()) }
        return binding
    }
}

/// What ends when its store is closed.
protocol Closable: AnyObject, Sendable {
    func close()
}
