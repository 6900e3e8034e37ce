// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// One write transaction's working state: the buffers it encodes into and the changes it made. Confined to the thread that
/// runs the transaction.
@usableFromInline
final class WriteSession {
    let engine: Engine
    let transaction: Transaction
    @usableFromInline var encoder = RecordEncoder()
    private(set) var changes: ChangeRecorder
    private var oldRecord: [UInt8] = []
    private(set) var indexes = IndexMaintenance()

    init(engine: Engine, transaction: Transaction, keepsNewImages: Bool) {
        self.engine = engine
        self.transaction = transaction
        changes = ChangeRecorder(keepsNewImages: keepsNewImages)
    }

    @usableFromInline
    enum Existing: Sendable {
        /// `insert`: an object with this ID is an error.
        case refuse
        /// `upsert`.
        case replace
        /// `update`: no object with this ID is an error.
        case require
    }

    /// Stores a record and its index entries. `record` must not point into the map.
    @usableFromInline
    func put(
        _ entity: StoredEntity, key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer, existing: Existing
    ) throws {
        guard entity.isWritable else { throw entity.notWritable() }
        transaction.isHeldToLimit = true
        do {
            if existing == .refuse {
                guard try transaction.put(entity.records, key: key, value: record, overwrite: false) else {
                    throw StoreError(
                        .alreadyExists,
                        "\(entity.name) \(entity.describeID(key)) exists already: use upsert to replace it.",
                        entity: entity.name, id: entity.describeID(key))
                }
                try reindex(entity, key: key, old: nil, new: record)
                changes.record(entity, key: key, old: nil, new: record)
                return
            }
            let exists = try copyExisting(entity, key)
            if !exists && existing == .require { throw Self.notFound(entity, key) }
            try transaction.put(entity.records, key: key, value: record)
            try oldRecord.withUnsafeBytes { bytes in
                try reindex(entity, key: key, old: exists ? bytes : nil, new: record)
                changes.record(entity, key: key, old: exists ? bytes : nil, new: record)
            }
        } catch let error as LMDBError {
            throw StoreError(error, engine: engine)
        }
    }

    /// Removes an object and its index entries. False when there is none.
    @usableFromInline
    func delete(_ entity: StoredEntity, key: UnsafeRawBufferPointer) throws -> Bool {
        guard entity.isWritable else { throw entity.notWritable() }
        do {
            guard try copyExisting(entity, key) else { return false }
            try transaction.delete(entity.records, key: key)
            try oldRecord.withUnsafeBytes { bytes in
                try reindex(entity, key: key, old: bytes, new: nil)
                changes.record(entity, key: key, old: bytes, new: nil)
            }
            return true
        } catch let error as LMDBError {
            throw StoreError(error, engine: engine)
        }
    }

    /// Copies the present record into `oldRecord`: the next put may move what the map shows.
    private func copyExisting(_ entity: StoredEntity, _ key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        guard let bytes = try transaction.get(entity.records, key) else { return false }
        oldRecord.removeAll(keepingCapacity: true)
        oldRecord.append(contentsOf: bytes)
        return true
    }

    static func notFound(_ entity: StoredEntity, _ key: UnsafeRawBufferPointer) -> StoreError {
        StoreError(
            .objectNotFound, "There is no \(entity.name) \(entity.describeID(key)).", entity: entity.name,
            id: entity.describeID(key))
    }

    private func reindex(
        _ entity: StoredEntity, key: UnsafeRawBufferPointer, old: UnsafeRawBufferPointer?, new: UnsafeRawBufferPointer?
    ) throws {
        do {
            try entity.namingDamage(key: key, record: new) {
                try indexes.update(entity.indexes, entity.layout, key: key, old: old, new: new, in: transaction)
            }
        } catch {
            // The record is written and its entries are not: the transaction can only abort (hazard 24).
            transaction.poison(error as? LMDBError ?? LMDBError(code: SystemCode.invalid, operation: "reindex"))
            throw error
        }
    }

    /// Notes that any object of the entity may have changed: where its indexes were, past the objects.
    func recordAny(_ entity: StoredEntity) { changes.recordAny(entity) }

    // MARK: The end

    /// Writes the counts of cut keys and returns the net changes.
    func finish() throws -> [EntityChanges] {
        let net = try changes.finish(in: transaction)
        for (database, change) in indexes.inexactChange where change != 0 {
            let count = try engine.main.count(.inexactKeys(of: database), in: transaction)
            let changed = max(0, Int(clamping: count) + change)
            try engine.main.setCount(.inexactKeys(of: database), UInt64(changed), in: transaction)
        }
        return net
    }

    /// The next free ID of a counter that only grows. `last` is the greatest ID in use, `greatest` the ID type's.
    func nextID(_ entity: StoredEntity, after last: UInt64, atMost greatest: UInt64) throws -> UInt64 {
        let key = MainDatabase.Key.nextID(of: entity.number)
        let counter = max(try engine.main.count(key, atMost: greatest, in: transaction), last)
        guard counter < greatest else {
            throw StoreError(.idsExhausted, "\(entity.name) has used up the IDs of its type.", entity: entity.name)
        }
        try engine.main.setCount(key, counter + 1, in: transaction)
        return counter + 1
    }
}
