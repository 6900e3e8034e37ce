// SPDX-License-Identifier: Apache-2.0

/// Tells whether a commit can change the result of a fetch, by the changed objects before and after.
struct CommitFilter: Sendable {
    let entity: StoredEntity
    private let filter: Filter
    /// Whether it builds objects and runs code of the program's on them.
    private let needsObjects: Bool
    /// The fields that it reads; nil where it may be any.
    private let fields: Set<Int>?

    init(entity: StoredEntity, filter: Filter) {
        self.entity = entity
        self.filter = filter
        needsObjects = filter.needsObject
        fields = filter.fields
    }

    /// Which commits it has to be asked about.
    var interest: ChangeInterest { filter.interest(in: entity) }

    /// Costs a look at each changed object's record. Of those that only the program's own code can decide on, the records
    /// are copied, at most `PendingMatches.byteLimit` bytes.
    func effect(of commit: CommitRecord) -> CommitEffect {
        guard let changes = commit.changes else { return .change }
        guard let changed = changes.first(where: { $0.entity == entity.number }) else { return .none }
        if !changed.isComplete { return .change }
        var undecided = Undecided(of: changed)
        for row in commit.rows(of: changed) {
            let matches = matches(row, of: changed) { view in
                needsObjects ? try filter.matchesWithoutObject(view) : try filter.matches(view)
            }
            switch matches {
            case false: continue
            case true: return .change
            case nil: undecided.add(row, of: changed)
            }
        }
        if undecided.isEmpty { return .none }
        guard let undecided = undecided.changes else { return .unknown(nil) }
        return .unknown(
            CommitEffect.Match(byteCount: undecided.rowBytes + undecided.imageBytes) { isWanted in
                undecided.rows.indices.contains { row in
                    isWanted() && matches(row, of: undecided) { try filter.matches($0) } != false
                }
            })
    }

    /// Whether the object matches before or after; nil where that cannot be told. One that cannot be tested counts as a
    /// match: the fetch will tell.
    private func matches(
        _ row: Int, of changes: EntityChanges, _ test: (RecordView) throws -> Bool?
    ) -> Bool? {
        let key = changes.rows[row].key
        func matches(_ image: UnsafeRawBufferPointer?) -> Bool? {
            guard let image else { return true }
            return key.withUnsafeBytes { key in
                do { return try entity.read(key: key, record: image, test) } catch { return true }
            }
        }
        return changes.withImages(of: row) { old, new in
            switch changes.rows[row].kind {
            case .inserted: return matches(new)
            case .deleted: return matches(old)
            case .updated:
                // Another process's commit: what was before is not known. It matched if the object does now, where nothing
                // changed that the predicate reads.
                if old == nil, new != nil, let fields, !fields.contains(where: changes.rows[row].fields.contains) {
                    return matches(new)
                }
                let before = matches(old)
                if before == true { return true }
                let after = matches(new)
                return after == true ? true : before == nil ? nil : after
            }
        }
    }

    /// Some of the changed objects, with their records.
    private struct Undecided {
        /// Nil when they take too many bytes.
        private(set) var changes: EntityChanges?
        private var byteCount = 0
        private(set) var isEmpty = true

        init(of all: EntityChanges) {
            changes = EntityChanges(entity: all.entity, name: all.name, images: RowImages())
        }

        mutating func add(_ row: Int, of all: EntityChanges) {
            isEmpty = false
            guard var images = changes?.images else { return }
            // Taken out while it is changed, so that nothing is copied.
            changes?.images = nil
            all.withImages(of: row) { old, new in
                byteCount += all.rows[row].byteCount + images.append(old: old, new: new)
            }
            changes?.rows.append(all.rows[row])
            changes?.images = images
            if byteCount > PendingMatches.byteLimit { changes = nil }
        }
    }
}

extension Filter {
    /// The positions of the fields that it reads; nil where the program's own code may read any.
    fileprivate var fields: Set<Int>? {
        switch self {
        case .constant: return []
        case .compare(let comparison): return [comparison.position]
        case .isIn(let position, _), .isNull(let position), .startsWith(let position, _), .hasElement(let position, _):
            return [position]
        case .not(let filter): return filter.fields
        case .and(let filters), .or(let filters):
            var fields: Set<Int> = []
            for filter in filters {
                guard let more = filter.fields else { return nil }
                fields.formUnion(more)
            }
            return fields
        case .object: return nil
        }
    }

    /// What the parts say that need no object; nil where one decides that does.
    fileprivate func matchesWithoutObject(_ view: RecordView) throws -> Bool? {
        switch self {
        case .object: return nil
        case .not(let filter): return try filter.matchesWithoutObject(view).map { !$0 }
        case .and(let filters): return try Self.joined(filters, decisive: false, view)
        case .or(let filters): return try Self.joined(filters, decisive: true, view)
        default: return try matches(view)
        }
    }

    /// What comes after a test that may fail is not looked at: the predicate fails before it.
    private static func joined(_ filters: [Filter], decisive: Bool, _ view: RecordView) throws -> Bool? {
        var isKnown = true
        for filter in filters {
            if let matches = try filter.matchesWithoutObject(view) {
                if matches == decisive { return decisive }
            } else {
                isKnown = false
                if filter.canThrow { break }
            }
        }
        return isKnown ? !decisive : nil
    }
}
