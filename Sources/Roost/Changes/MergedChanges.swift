// SPDX-License-Identifier: Apache-2.0

/// Several commits as one: what they did together to each object, from before the first to after the last.
///
/// An object that was inserted and then updated is inserted; updated and then deleted, deleted; deleted and then inserted,
/// updated, nobody knows in which fields; several updates are one, of all their fields, even when they cancel out. One that was
/// inserted and then deleted has not changed, but is still named, since who looked in between may have seen it. Records before
/// and after are not kept: none of them says what there was between, which may be what an observer has seen.
///
/// Adding a commit costs as much as it has changes. At most `limits.ids` objects of an entity are named, and what takes more than
/// `limits.bytes` altogether is forgotten, the entity with the most first: then any of its objects may have changed.
struct MergedChanges: Sendable {
    struct Limits: Sendable {
        var ids = 100_000
        var bytes = 16 << 20
    }

    private struct PerEntity {
        var changes: EntityChanges
        var positions: [[UInt8]: Int] = [:]
        var byteCount = MemoryLayout<EntityChanges>.stride
    }

    /// What the dictionary takes for a row, beside the row.
    private static let positionBytes = 40

    private let limits: Limits
    private var sequences: ClosedRange<UInt64>
    private var isForeign: Bool
    private var stamp: CommitStamp?
    /// By the entity's number; nil when anything may have changed.
    private var entities: [Int: PerEntity]? = [:]
    private(set) var byteCount = 0

    init(_ first: CommitRecord, limits: Limits) {
        self.limits = limits
        sequences = first.sequences
        isForeign = first.isForeign
        merge(first)
    }

    var record: CommitRecord {
        CommitRecord(
            sequences: sequences, isForeign: isForeign,
            changes: entities.map { $0.values.map(\.changes).sorted { $0.entity < $1.entity } },
            stamp: stamp)
    }

    mutating func merge(_ commit: CommitRecord) {
        sequences = sequences.lowerBound...max(sequences.upperBound, commit.sequences.upperBound)
        isForeign = isForeign || commit.isForeign
        stamp = commit.stamp
        guard let changes = commit.changes, entities != nil else {
            entities = nil
            byteCount = 0
            return
        }
        for entity in changes { merge(entity) }
        while byteCount > limits.bytes,
            let largest = entities?.filter(\.value.changes.isComplete).max(by: {
                $0.value.byteCount < $1.value.byteCount
            })
        {
            forget(largest.key)
        }
    }

    private mutating func merge(_ later: EntityChanges) {
        // Taken out while it is changed, so that nothing is copied.
        var entity =
            entities?.removeValue(forKey: later.entity)
            ?? PerEntity(changes: EntityChanges(entity: later.entity, name: later.name))
        byteCount -= min(byteCount, entity.byteCount)
        defer {
            byteCount += entity.byteCount
            entities?[later.entity] = entity
        }
        guard entity.changes.isComplete else { return }
        guard later.isComplete else {
            entity = Self.incomplete(later)
            return
        }
        for row in later.rows {
            if let position = entity.positions[row.key] {
                entity.changes.rows[position].merge(row)
            } else {
                entity.positions[row.key] = entity.changes.rows.count
                entity.changes.rows.append(row)
                entity.byteCount += row.byteCount + Self.positionBytes
            }
        }
        if entity.changes.rows.count > limits.ids { entity = Self.incomplete(later) }
    }

    private mutating func forget(_ number: Int) {
        guard let entity = entities?[number] else { return }
        let incomplete = Self.incomplete(entity.changes)
        byteCount += incomplete.byteCount - entity.byteCount
        entities?[number] = incomplete
    }

    private static func incomplete(_ changes: EntityChanges) -> PerEntity {
        PerEntity(changes: EntityChanges(entity: changes.entity, name: changes.name, isComplete: false))
    }
}

extension EntityChanges.Row {
    /// What this change and a later one of the same object are together.
    mutating func merge(_ later: EntityChanges.Row) {
        let existedBefore = kind != .inserted && !isTransient
        let existsAfter = later.kind != .deleted
        switch (existedBefore, existsAfter) {
        case (false, true): (kind, fields, isTransient) = (.inserted, .none, false)
        case (false, false): (kind, fields, isTransient) = (.deleted, .none, true)
        case (true, false): (kind, fields) = (.deleted, .none)
        case (true, true):
            if kind == .updated && later.kind == .updated { fields.formUnion(later.fields) } else { fields = .any }
            kind = .updated
        }
    }
}
