// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// What one write transaction did to each entity's objects, kept while it runs.
///
/// A bulk write is followed object by object up to `limit` objects or `byteLimit` bytes of old and new records an entity;
/// beyond that, only that the entity changed is known.
struct ChangeRecorder {
    static let limit = 100_000
    static let byteLimit = 64 << 20

    /// One object, from the transaction's start to now.
    private struct Row {
        /// Where the record stood in `images` when the transaction began; empty when there was none.
        var old: Range<Int>
        var existed: Bool
        var exists: Bool
        var new: Range<Int>
        /// Of the only update, when there was one; else unknown until the end.
        var fields: ChangedFields?
    }

    private struct PerEntity {
        let state: EntityState
        var keys = KeyTable()
        var rows: [Row] = []
        var images: [UInt8] = []
        var isComplete = true
    }

    private var entities: [PerEntity] = []
    /// Whether someone will want the new records; old ones are always kept, to tell a change from a change and back.
    let keepsNewImages: Bool

    init(keepsNewImages: Bool) { self.keepsNewImages = keepsNewImages }

    var isEmpty: Bool { entities.isEmpty }

    /// Notes that `key` went from `old` to `new`, either of which may be nil. The buffers are copied as far as needed.
    mutating func record(
        _ state: EntityState, key: UnsafeRawBufferPointer, old: UnsafeRawBufferPointer?, new: UnsafeRawBufferPointer?
    ) {
        let index: Int
        if let known = entities.lastIndex(where: { $0.state === state }) {
            index = known
        } else {
            entities.append(PerEntity(state: state))
            index = entities.count - 1
        }
        guard entities[index].isComplete else { return }
        let (position, isNew) = entities[index].keys.insert(key)
        let newImage = keepsNewImages ? keep(new, index) : 0..<0
        if isNew {
            let oldImage = keep(old, index)
            entities[index].rows.append(
                Row(
                    old: oldImage, existed: old != nil, exists: new != nil, new: newImage,
                    fields: ChangedFields(from: old, to: new, layout: state.layout, key: key)))
            if entities[index].rows.count > Self.limit || entities[index].images.count > Self.byteLimit {
                entities[index] = PerEntity(state: state, isComplete: false)
            }
        } else {
            entities[index].rows[position].exists = new != nil
            entities[index].rows[position].new = newImage
            entities[index].rows[position].fields = nil
        }
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer?, _ index: Int) -> Range<Int> {
        guard let bytes else { return 0..<0 }
        let start = entities[index].images.count
        entities[index].images.append(contentsOf: bytes)
        return start..<entities[index].images.count
    }

    /// The net changes, in entity order. Objects that are as they were at the start are left out.
    func finish(in transaction: Transaction) throws -> [EntityChanges] {
        var result: [EntityChanges] = []
        for entity in entities.sorted(by: { $0.state.number < $1.state.number }) {
            var changes = EntityChanges(entity: entity.state.number, name: entity.state.name)
            changes.isComplete = entity.isComplete
            for (position, row) in entity.rows.enumerated() {
                try entity.keys.withKey(position) { key in
                    guard row.existed || row.exists else { return }
                    var fields = ChangedFields.none
                    if row.existed && row.exists {
                        fields = try row.fields ?? fieldsChanged(row, key: key, entity, transaction)
                        if fields == .none { return }
                    }
                    changes.rows.append(
                        EntityChanges.Row(
                            key: Array(key),
                            kind: !row.existed ? .inserted : row.exists ? .updated : .deleted,
                            fields: fields,
                            old: row.existed && keepsNewImages ? Array(entity.images[row.old]) : nil,
                            new: row.exists && keepsNewImages ? Array(entity.images[row.new]) : nil))
                }
            }
            if !changes.isComplete || !changes.rows.isEmpty { result.append(changes) }
        }
        return result
    }

    private func fieldsChanged(
        _ row: Row, key: UnsafeRawBufferPointer, _ entity: PerEntity, _ transaction: Transaction
    ) throws -> ChangedFields {
        guard let new = try transaction.get(entity.state.records, key) else { return .none }
        return entity.images.withUnsafeBytes { images in
            let old = UnsafeRawBufferPointer(rebasing: images[row.old])
            return ChangedFields(from: old, to: new, layout: entity.state.layout, key: key) ?? .none
        }
    }
}
