// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// One snapshot of the store, in which several fetches see the same state.
///
/// Handed to the closure of `Store.read`; it ends with the closure and cannot be kept.
public struct ReadTransaction: ~Copyable, SnapshotReading {
    /// Not counted: whoever runs the read holds the store.
    unowned(unsafe) let store: Store
    let lease: Environment.ReadLease
    /// Who is told what is read. Not counted, either.
    private unowned(unsafe) let tracker: (any ReadTracking)?

    init(store: Store, lease: consuming Environment.ReadLease, tracker: (any ReadTracking)? = nil) {
        self.store = store
        self.lease = lease
        self.tracker = tracker
    }

    @_documentation(visibility: internal)
    public var context: SnapshotContext {
        SnapshotContext(store: store, transaction: lease.transaction, tracker: tracker)
    }
}

/// Who is told what a transaction reads, on its thread.
protocol ReadTracking: AnyObject {
    /// An object was looked up by its ID, whether there is one or not.
    func noteLookup(_ entity: StoredEntity, _ key: UnsafeRawBufferPointer)
}

/// What every transaction can do: `ReadTransaction` and `WriteTransaction` conform, and nothing else may.
///
/// A write transaction sees its own changes.
public protocol SnapshotReading: ~Copyable {
    /// Where the reading happens.
    @_documentation(visibility: internal)
    var context: SnapshotContext { get }
}

/// The store and the snapshot that a transaction reads. Nothing in it is for callers.
///
/// Unowned: whoever runs the transaction holds both, and it is used only inside the transaction's closure; it must not be
/// kept. Counting references would cost as much as a look-up's decoding.
@_documentation(visibility: internal)
public struct SnapshotContext {
    unowned(unsafe) let store: Store
    unowned(unsafe) let transaction: Transaction
    private let entries: BindingTable.Entries
    private let lookup: Lookup
    /// Nil as a rule.
    unowned(unsafe) let tracker: (any ReadTracking)?

    init(store: Store, transaction: Transaction, tracker: (any ReadTracking)? = nil) {
        self.store = store
        self.tracker = tracker
        entries = store.bindings.entries
        self.transaction = transaction
        lookup = transaction.lookup
    }

    @usableFromInline
    func handle(_ type: ObjectIdentifier, _ name: @autoclosure () -> String) throws -> StoredEntity.Handle {
        guard let handle = entries.handle(type) else { throw StoreError.unknownEntity(name()) }
        return handle
    }

    @usableFromInline
    func binding(_ type: ObjectIdentifier, _ name: @autoclosure () -> String) throws -> EntityBinding {
        try store.binding(type, name())
    }

    /// Many records at once; see `record`.
    func records(
        _ handle: StoredEntity.Handle, _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>,
        _ records: UnsafeMutablePointer<UnsafeRawBufferPointer>
    ) throws {
        if let tracker { for key in keys { tracker.noteLookup(handle.entity, key) } }
        do throws(LMDBError) {
            try lookup.get(handle.records, keys, records)
            guard handle.entity.hasForeignIDs else { return }
            for (position, key) in keys.enumerated() where records[position].baseAddress == nil {
                if let record = try search(handle.entity, key) { records[position] = record }
            }
        } catch {
            throw StoreError.wrapping(transaction.failure ?? error, engine: store.engine)
        }
    }

    /// The record's bytes in the map, valid until the transaction's next write or its end (hazard 21).
    @usableFromInline
    func record(_ handle: StoredEntity.Handle, _ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        if let tracker { tracker.noteLookup(handle.entity, key) }
        do throws(LMDBError) {
            if let record = try lookup.get(handle.records, key) { return record }
            return handle.entity.hasForeignIDs ? try search(handle.entity, key) : nil
        } catch {
            // After a failed write LMDB refuses reads as well: what is told is why.
            throw StoreError.wrapping(transaction.failure ?? error, engine: store.engine)
        }
    }
}

extension SnapshotContext {
    /// The record whose text ID has the key that this build makes of it, where the store's keys follow other Unicode data:
    /// all records are looked at, unless every version makes the same key.
    @inline(never)
    private func search(
        _ entity: StoredEntity, _ wanted: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        if NormalizedText.isTriviallyNormalized(wanted) { return nil }
        var cursor = try transaction.cursor(entity.records)
        var key = KeyBytes()
        var isThere = try cursor.first()
        while isThere {
            key.removeAll()
            // One that cannot be read has no ID.
            if let id = try? RecordView(key: cursor.key, record: cursor.value, layout: entity.layout).bytes(0) {
                key.append(stored: id, .string, limit: Int.max)
                if key.withUnsafeBytes({ StoredOrder.of($0, wanted) }) == .equal { return cursor.value }
            }
            isThere = try cursor.next()
        }
        return nil
    }
}

extension SnapshotReading where Self: ~Copyable {
    /// The object with this ID, or nil. At most one B-tree descent, and one decoding. Throws `unknownEntity`, `idTooLong`,
    /// and `damaged` when the record cannot be read.
    @inlinable
    public func get<T: Entity>(_ type: T.Type, id: T.ID) throws -> T? {
        let context = context
        let handle = try context.handle(ObjectIdentifier(type), T.entityName)
        return try id.withKey { key in
            guard let record = try context.record(handle, key) else { return nil }
            return try T.decoded(key: key, record: record, handle: handle)
        }
    }

    /// The objects with these IDs, in the order asked for; IDs without an object are left out, and one given twice appears
    /// twice. At most one B-tree descent an ID. Throws what `get(_:id:)` does, at the first ID or record that it meets so.
    @inlinable
    public func get<T: Entity>(_ type: T.Type, ids: some Sequence<T.ID>) throws -> [T] {
        let context = context
        let handle = try context.handle(ObjectIdentifier(type), T.entityName)
        var objects: [T] = []
        objects.reserveCapacity(ids.underestimatedCount)
        let run = KeyRun()
        var rest = ids.makeIterator()
        while true {
            while !run.isFull, let id = rest.next() { try id.withKey { key in run.append(key) } }
            if run.count == 0 { break }
            try run.find(context, handle)
            for index in 0..<run.count {
                guard let record = run.record(index) else { continue }
                objects.append(try T.decoded(key: run.key(index), record: record, handle: handle))
            }
            run.removeAll()
        }
        return objects
    }
}

extension Store {
    /// The object with this ID, or nil; on this thread, in a snapshot of its own. Throws what the transaction's form does,
    /// and `storeClosed`.
    @inlinable
    public func get<T: Entity>(_ type: T.Type, id: T.ID) throws -> T? {
        try withExtendedLifetime(self) { try beginRead(file: #fileID, line: #line).get(type, id: id) }
    }

    /// The asynchronous form: runs on a thread of the store's, and ends with `CancellationError` when the task is cancelled.
    public func get<T: Entity>(_ type: T.Type, id: T.ID) async throws -> T? {
        try await read { tx in try tx.get(type, id: id) }
    }

    /// The objects with these IDs, in the order asked for; IDs without an object are left out, and one given twice appears
    /// twice. On this thread, in one snapshot. Throws what `get(_:id:)` does.
    @inlinable
    public func get<T: Entity>(_ type: T.Type, ids: some Sequence<T.ID>) throws -> [T] {
        try withExtendedLifetime(self) { try beginRead(file: #fileID, line: #line).get(type, ids: ids) }
    }

    /// The asynchronous form: runs on a thread of the store's, and ends with `CancellationError` when the task is cancelled.
    public func get<T: Entity>(_ type: T.Type, ids: some Sequence<T.ID> & Sendable) async throws -> [T] {
        try await read { tx in try tx.get(type, ids: ids) }
    }
}
