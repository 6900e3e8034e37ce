// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// The store's one running write. What it changes becomes visible to others as a whole, when it commits, or not at all.
///
/// Handed to the closure of `Store.write`; it ends with the closure and cannot be kept. Everything runs on the closure's
/// thread.
///
/// What stores an object throws `unknownEntity`, `idTooLong` and `valueTooLarge`; nothing has changed then, and the
/// transaction can go on. After an error of the storage itself (`storeFull`, `diskFull`, `transactionTooLarge`) it
/// can only fail: every later operation throws, and so does the commit.
public struct WriteTransaction: ~Copyable, SnapshotReading {
    let store: Store
    @usableFromInline let session: WriteSession

    init(store: Store, session: WriteSession) {
        self.store = store
        self.session = session
    }

    @_documentation(visibility: internal)
    public var context: SnapshotContext { SnapshotContext(store: store, transaction: session.transaction) }

    // MARK: Storing

    /// Stores a new object. Throws `alreadyExists` when there is one with its ID; nothing has changed then, and the
    /// transaction can go on. One B-tree insertion, and one for each index entry.
    @inlinable
    public func insert<T: Entity>(_ object: T) throws {
        let handle = try context.handle(ObjectIdentifier(T.self), T.entityName)
        try session.put(object, handle, .refuse)
    }

    /// Stores new objects, in their order; the cheaper, the more the order is that of the IDs. Stops at the first that throws
    /// (`alreadyExists` where the ID is taken), with those before it stored.
    @inlinable
    public func insert<T: Entity>(contentsOf objects: some Sequence<T>) throws {
        let handle = try context.handle(ObjectIdentifier(T.self), T.entityName)
        for object in objects { try session.put(object, handle, .refuse) }
    }

    /// Stores an object, in the place of the one with its ID if there is one: one look-up and one B-tree insertion, a deletion
    /// and an insertion for each index entry that changes, nothing for those that stay the same.
    ///
    /// Where the record of that one is damaged, its index entries are searched for in all of the entity's indexes, from end
    /// to end. The same holds for `update(_:)` and `delete(_:id:)`, so that a damaged object can be got rid of.
    @inlinable
    public func upsert<T: Entity>(_ object: T) throws {
        let handle = try context.handle(ObjectIdentifier(T.self), T.entityName)
        try session.put(object, handle, .replace)
    }

    /// Stores objects, each in the place of the one with its ID if there is one. Stops at the first that throws, with those
    /// before it stored.
    @inlinable
    public func upsert<T: Entity>(contentsOf objects: some Sequence<T>) throws {
        let handle = try context.handle(ObjectIdentifier(T.self), T.entityName)
        for object in objects { try session.put(object, handle, .replace) }
    }

    /// Changes the object with this ID by `change` and returns the new one. Throws `objectNotFound` when there is none, and
    /// `idChanged` when `change` sets another `id`. What `change` throws passes through, and nothing has changed. Costs a `get`
    /// and an `upsert`.
    @inlinable
    @discardableResult
    public func update<T: Entity>(_ type: T.Type, id: T.ID, _ change: (inout T) throws -> Void) throws -> T {
        guard var object = try get(type, id: id) else { throw session.notFound(type, id) }
        try change(&object)
        guard object.id == id else { throw session.idChanged(type, from: id, to: object.id) }
        let handle = try context.handle(ObjectIdentifier(T.self), T.entityName)
        try session.put(object, handle, .require)
        return object
    }

    /// Replaces an object that exists. Throws `objectNotFound` when there is none with its ID; nothing has changed then.
    /// Costs what `upsert` does.
    @inlinable
    public func update<T: Entity>(_ object: T) throws {
        let handle = try context.handle(ObjectIdentifier(T.self), T.entityName)
        try session.put(object, handle, .require)
    }

    // MARK: Deleting

    /// Removes the object with this ID and its index entries. Returns whether there was one. References to it stay. One
    /// look-up and one B-tree deletion, and one for each index entry. Throws `unknownEntity` and `idTooLong`.
    @discardableResult
    public func delete<T: Entity>(_ type: T.Type, id: T.ID) throws -> Bool {
        let handle = try context.handle(ObjectIdentifier(T.self), T.entityName)
        return try id.withKey { key in try session.delete(handle.entity, key: key) }
    }

    // MARK: IDs

    /// An ID that no object has and that this function never gave before: one more than the greatest in use or given so
    /// far. The counter is part of the transaction and of the file. Throws `idsExhausted` when the type has no greater one,
    /// and `unknownEntity`. Two look-ups.
    public func nextID<T: Entity>(_ type: T.Type) throws -> T.ID where T.ID: FixedWidthInteger {
        let handle = try context.handle(ObjectIdentifier(T.self), T.entityName)
        do {
            let last = try lastID(handle, T.ID.self)
            let next = try session.nextID(
                handle.entity, after: UInt64(clamping: max(0, last)), atMost: UInt64(clamping: T.ID.max))
            return T.ID(next)
        } catch {
            throw StoreError.wrapping(error, engine: store.engine)
        }
    }

    private func lastID<ID: EntityID & FixedWidthInteger>(_ handle: StoredEntity.Handle, _: ID.Type) throws -> ID {
        var cursor = try session.transaction.cursor(handle.records)
        guard try cursor.last() else { return 0 }
        return try handle.entity.readID(ID.self, key: cursor.key, record: cursor.value)
    }
}

extension WriteSession {
    @inlinable
    @inline(__always)
    func put<T: Entity>(_ object: T, _ handle: StoredEntity.Handle, _ existing: Existing) throws {
        try object.id.withKey { key in
            encoder.begin(T.recordShape, handle.header)
            object.encode(to: &encoder)
            if encoder.firstTooLarge != nil { throw tooLarge(handle.entity, key) }
            encoder.seal(key: key)
            try put(handle.entity, key: key, record: encoder.record, existing: existing)
        }
    }

    @usableFromInline
    @inline(never)
    func tooLarge(_ entity: StoredEntity, _ key: UnsafeRawBufferPointer) -> StoreError {
        let (position, size) = encoder.firstTooLarge ?? (0, 0)
        let id = entity.describeID(key)
        let field = entity.layout.fields.indices.contains(position) ? entity.layout.fields[position].name : nil
        return StoreError(
            .valueTooLarge,
            "\(entity.name) \(id) would take \(size) bytes up to its field \(field ?? "?"), and a record takes at most "
                + "\(encoder.limit): keep large data in files, or in several objects.",
            entity: entity.name, id: id, field: field)
    }

    @usableFromInline
    func notFound<T: Entity>(_ type: T.Type, _ id: T.ID) -> StoreError {
        StoreError(.objectNotFound, "There is no \(T.entityName) \(id).", entity: T.entityName, id: "\(id)")
    }

    @usableFromInline
    func idChanged<T: Entity>(_ type: T.Type, from old: T.ID, to new: T.ID) -> StoreError {
        StoreError(
            .idChanged,
            "The update of \(T.entityName) \(old) sets its id to \(new): delete the object and insert another.",
            entity: T.entityName, id: "\(old)")
    }
}
