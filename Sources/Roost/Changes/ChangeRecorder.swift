// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// What one write transaction did to each entity's objects, kept while it runs.
///
/// An object is followed from the transaction's start to its newest state, however often it is written in between. A bulk
/// write is followed object by object up to `limit` objects of an entity. Keys, records and bookkeeping take at most
/// `byteLimit` bytes: beyond that the newest records are forgotten first, and then which objects of the entity changed that
/// takes the most.
struct ChangeRecorder {
    static let limit = 100_000
    static let byteLimit = 64 << 20

    /// One object.
    private struct Row {
        /// Where the record is in `old` as it was when the transaction began; nil when there was none.
        var old: Range<Int>?
        var new: Range<Int>?
        var exists: Bool
        /// Of the only update, when there was one; else unknown until the end.
        var fields: ChangedFields?
    }

    private struct PerEntity {
        let stored: StoredEntity
        var keys = KeyTable()
        var rows: [Row] = []
        var old: [UInt8] = []
        var new: [UInt8] = []
        /// Bytes of `new` that no row uses any more.
        var unused = 0
        var isComplete = true

        var byteCount: Int {
            keys.byteCount + rows.count * MemoryLayout<Row>.stride + old.count + new.count
        }

        /// Puts an object's newest record in the place of the one before it, where that is large enough.
        mutating func replaceNew(of position: Int, by image: UnsafeRawBufferPointer?) {
            let before = rows[position].new
            guard let image else {
                unused += before?.count ?? 0
                rows[position].new = nil
                return
            }
            if let before, image.count <= before.count {
                unused += before.count - image.count
                let range = before.lowerBound..<before.lowerBound + image.count
                new.withUnsafeMutableBytes { new in
                    UnsafeMutableRawBufferPointer(rebasing: new[range]).copyMemory(from: image)
                }
                rows[position].new = range
            } else {
                unused += before?.count ?? 0
                rows[position].new = new.count..<new.count + image.count
                new.append(contentsOf: image)
            }
            if unused > 1 << 16, unused > new.count / 2 { compact() }
        }

        private mutating func compact() {
            var compacted: [UInt8] = []
            compacted.reserveCapacity(new.count - unused)
            for position in rows.indices {
                guard let range = rows[position].new else { continue }
                rows[position].new = compacted.count..<compacted.count + range.count
                compacted.append(contentsOf: new[range])
            }
            new = compacted
            unused = 0
        }

        mutating func forgetNew() {
            new = []
            unused = 0
            for position in rows.indices { rows[position].new = nil }
        }
    }

    private var entities: [PerEntity] = []
    /// Whether someone wants the records before and after. Old ones are kept in any case, to tell a change from a change
    /// and back.
    private(set) var keepsNewImages: Bool
    /// Of all entities together.
    private(set) var byteCount = 0

    init(keepsNewImages: Bool) { self.keepsNewImages = keepsNewImages }

    var isEmpty: Bool { entities.isEmpty }

    /// Notes that `key` went from `old` to `new`, either of which may be nil. The buffers are copied as far as needed.
    mutating func record(
        _ stored: StoredEntity, key: UnsafeRawBufferPointer, old: UnsafeRawBufferPointer?, new: UnsafeRawBufferPointer?
    ) {
        let index = index(of: stored)
        guard entities[index].isComplete else { return }
        let before = entities[index].byteCount
        let (position, isNew) = entities[index].keys.insert(key)
        if isNew {
            let start = entities[index].old.count
            if let old { entities[index].old.append(contentsOf: old) }
            entities[index].rows.append(
                Row(
                    old: old.map { start..<start + $0.count }, new: nil, exists: new != nil,
                    fields: ChangedFields(from: old, to: new, layout: stored.layout, key: key)))
        } else {
            entities[index].rows[position].exists = new != nil
            entities[index].rows[position].fields = nil
        }
        if keepsNewImages { entities[index].replaceNew(of: position, by: new) }
        byteCount += entities[index].byteCount - before
        if entities[index].rows.count > Self.limit { forget(index) }
        if byteCount > Self.byteLimit { stayWithinLimit() }
    }

    /// Notes that any object of the entity may have changed, or what requests find of it.
    mutating func recordAny(_ stored: StoredEntity) {
        forget(index(of: stored))
    }

    private mutating func index(of stored: StoredEntity) -> Int {
        if let known = entities.lastIndex(where: { $0.stored === stored }) { return known }
        entities.append(PerEntity(stored: stored))
        return entities.count - 1
    }

    private mutating func stayWithinLimit() {
        keepsNewImages = false
        for index in entities.indices { entities[index].forgetNew() }
        byteCount = entities.reduce(0) { $0 + $1.byteCount }
        while byteCount > Self.byteLimit,
            let largest = entities.indices.max(by: { entities[$0].byteCount < entities[$1].byteCount })
        {
            forget(largest)
        }
    }

    /// Only that the entity changed is known from now on.
    private mutating func forget(_ index: Int) {
        byteCount -= entities[index].byteCount
        entities[index] = PerEntity(stored: entities[index].stored, isComplete: false)
        byteCount += entities[index].byteCount
    }

    /// The net changes, in entity order; the recorder is empty afterwards. Objects that are as they were at the start are
    /// left out.
    mutating func finish(in transaction: Transaction) throws -> [EntityChanges] {
        var result: [EntityChanges] = []
        entities.sort { $0.stored.number < $1.stored.number }
        for index in entities.indices {
            let stored = entities[index].stored
            // Taken out, so that what an entity has used is free before the next one's rows are made.
            let entity = entities[index]
            entities[index] = PerEntity(stored: stored)
            let changes = try Self.changes(of: entity, withImages: keepsNewImages, in: transaction)
            if !changes.isComplete || !changes.rows.isEmpty { result.append(changes) }
        }
        entities = []
        byteCount = 0
        return result
    }

    private static func changes(
        of entity: PerEntity, withImages: Bool, in transaction: Transaction
    ) throws -> EntityChanges {
        var changes = EntityChanges(entity: entity.stored.number, name: entity.stored.name)
        changes.isComplete = entity.isComplete
        changes.rows.reserveCapacity(entity.rows.count)
        var ranges: [(old: Range<Int>?, new: Range<Int>?)] = []
        for (position, row) in entity.rows.enumerated() {
            try entity.keys.withKey(position) { key in
                guard row.old != nil || row.exists else { return }
                var fields = ChangedFields.none
                if let old = row.old, row.exists {
                    fields = try row.fields ?? fieldsChanged(from: old, to: row.new, key: key, entity, transaction)
                    if fields == .none { return }
                }
                changes.rows.append(
                    EntityChanges.Row(
                        key: Array(key), kind: row.old == nil ? .inserted : row.exists ? .updated : .deleted,
                        fields: fields))
                if withImages { ranges.append((row.old, row.new)) }
            }
        }
        if withImages, entity.isComplete {
            changes.images = RowImages(old: entity.old, new: entity.new, ranges: ranges)
        }
        return changes
    }

    private static func fieldsChanged(
        from old: Range<Int>, to new: Range<Int>?, key: UnsafeRawBufferPointer, _ entity: PerEntity,
        _ transaction: Transaction
    ) throws -> ChangedFields {
        func compare(_ new: UnsafeRawBufferPointer) -> ChangedFields {
            entity.old.withUnsafeBytes { bytes in
                let old = UnsafeRawBufferPointer(rebasing: bytes[old])
                return ChangedFields(from: old, to: new, layout: entity.stored.layout, key: key) ?? .any
            }
        }
        if let new { return entity.new.withUnsafeBytes { compare(UnsafeRawBufferPointer(rebasing: $0[new])) } }
        return try transaction.get(entity.stored.records, key).map(compare) ?? .any
    }
}
