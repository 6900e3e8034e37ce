// SPDX-License-Identifier: Apache-2.0

/// Tells whether a commit can change the result of a fetch, by the changed objects before and after; of a window, from which
/// place on.
struct CommitFilter: Sendable {
    let entity: StoredEntity
    private let filter: Filter
    /// Whether it builds objects and runs code of the program's on them.
    private let needsObjects: Bool
    /// The fields by whose values an object is in the result, and at its place; nil where it may be any.
    private let fields: Set<Int>?
    /// The order of a window whose end can be told; nil of any other result.
    private let window: RequestedOrder?
    private let limit: Int?
    /// The fields by which an object that stays in the result counts as changed; nil is all.
    private let chosen: Set<Int>?

    /// `chosen`: the fields whose updates count; what comes into the result, leaves it or has another place in it does anyway.
    /// `endsWindows`: whether it is said after a fetch where a window ends.
    init(entity: StoredEntity, request: LoweredRequest, chosen: Set<Int>? = nil, endsWindows: Bool = true) {
        self.entity = entity
        filter = request.filter
        needsObjects = filter.needsObject
        let isWindow = endsWindows && request.limit != nil && request.order.isKeyed && !entity.hasForeignIDs
        let window = isWindow ? request.order : nil
        self.chosen = chosen.map { $0.union(request.order.fields) }
        self.window = window
        fields = filter.fields.map { $0.union(window?.fields ?? []) }
        limit = request.limit
    }

    private var isEmpty: Bool { limit == 0 }

    /// Which commits it has to be asked about.
    var interest: ChangeInterest { isEmpty ? ChangeInterest(entity, []) : filter.interest(in: entity) }

    /// Where a window ends in a snapshot; nil where it does not, or where that cannot be told. Costs a look at the last row's
    /// record.
    func end<T: Entity>(
        of type: T.Type, rowCount: Int, lastID: T.ID?, _ transaction: borrowing ReadTransaction
    ) throws -> ResultPlace? {
        guard let window, let lastID, rowCount == limit else { return nil }
        let context = transaction.context
        let handle = try context.handle(ObjectIdentifier(type), T.entityName)
        return try lastID.withKey { key in
            guard let record = try context.record(handle, key) else { return nil }
            // The fetch has read it; what else there may be wrong, it will tell again.
            return try? entity.read(key: key, record: record) { try Self.place(of: $0, in: window) }
        }
    }

    private static func place(of view: RecordView, in window: RequestedOrder) throws -> ResultPlace {
        var key = KeyBytes()
        try window.appendKey(of: view, to: &key)
        return .at(key.bytes)
    }

    /// What an object says, before and after.
    private enum Finding {
        case noMatch
        case match(ResultPlace)
        /// Only the program's own code can tell.
        case undecided
    }

    /// Costs a look at each changed object's record. Of those that only the program's own code can decide on, the records
    /// are copied, at most `PendingMatches.byteLimit` bytes.
    func effect(of commit: CommitRecord) -> CommitEffect {
        if isEmpty { return .none }
        guard let changes = commit.changes else { return .change(from: .anywhere) }
        guard let changed = changes.first(where: { $0.entity == entity.number }) else { return .none }
        if !changed.isComplete { return .change(from: .anywhere) }
        var first: ResultPlace?
        var undecided = Undecided(of: changed)
        for row in commit.rows(of: changed) {
            let finding = finding(row, of: changed) { view in
                needsObjects ? try filter.matchesWithoutObject(view) : try filter.matches(view)
            }
            switch finding {
            case .noMatch: continue
            case .match(let place):
                first = min(first ?? place, place)
                if first == .anywhere { return .change(from: .anywhere) }
            case .undecided: undecided.add(row, of: changed)
            }
        }
        if undecided.isEmpty { return first.map { .change(from: $0) } ?? .none }
        guard let undecided = undecided.changes else { return .unknown(nil) }
        return .unknown(
            CommitEffect.Match(byteCount: undecided.rowBytes + undecided.imageBytes) { [first] isWanted in
                var first = first
                for row in undecided.rows.indices where isWanted() {
                    switch finding(row, of: undecided, { try filter.matches($0) }) {
                    case .noMatch: continue
                    case .match(let place): first = min(first ?? place, place)
                    case .undecided: first = .anywhere
                    }
                    if first == .anywhere { break }
                }
                return first
            })
    }

    /// Whether the object matches before or after, and at which place first. One that cannot be tested counts as a match: the
    /// fetch will tell.
    private func finding(
        _ row: Int, of changes: EntityChanges, _ test: (RecordView) throws -> Bool?
    ) -> Finding {
        let key = changes.rows[row].key
        func finding(_ image: UnsafeRawBufferPointer?) -> Finding {
            guard let image else { return .match(.anywhere) }
            return key.withUnsafeBytes { key in
                do {
                    return try entity.read(key: key, record: image) { view -> Finding in
                        guard let matches = try test(view) else { return .undecided }
                        if !matches { return .noMatch }
                        return .match(try window.map { try Self.place(of: view, in: $0) } ?? .anywhere)
                    }
                } catch { return .match(.anywhere) }
            }
        }
        return changes.withImages(of: row) { old, new in
            switch changes.rows[row].kind {
            case .inserted: return finding(new)
            case .deleted: return finding(old)
            case .updated:
                // Another process's commit: what was before is not known. It matched if the object does now, where nothing
                // changed that the predicate reads.
                if old == nil, new != nil, let fields, !fields.contains(where: changes.rows[row].fields.contains) {
                    let isChosen = chosen.map { $0.contains(where: changes.rows[row].fields.contains) } ?? true
                    return isChosen ? finding(new) : .noMatch
                }
                let before = finding(old)
                let isChosen = chosen.map { $0.contains(where: changes.rows[row].fields.contains) } ?? true
                if isChosen, case .match(.anywhere) = before { return before }
                switch (before, finding(new)) {
                case (.match, .match) where !isChosen && old != nil && new != nil: return .noMatch
                case (.match(let before), .match(let after)): return .match(min(before, after))
                case (_, .match(.anywhere)): return .match(.anywhere)
                case (.undecided, _), (_, .undecided): return .undecided
                case (.match, _): return before
                case (_, let after): return after
                }
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
    var fields: Set<Int>? {
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
