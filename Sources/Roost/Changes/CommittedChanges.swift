// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// What commits did, read from the history in the file: those of other processes, which no writer of this one has told of.
struct CommittedChanges: Sendable {
    struct Limits: Sendable {
        /// How many commits are read at once.
        var commits = 1_000
        /// Of memory, for the IDs.
        var bytes = 16 << 20
        /// Of the objects' records.
        var imageBytes = 16 << 20
    }

    let history: History
    /// Which commits in the history are this process's own.
    let origin: UInt64
    let entity: @Sendable (Int) -> StoredEntity?
    var limits = Limits()

    /// A record for each of the commits, in order; of those that the history does not hold any more, or that are too many to be
    /// read, that anything may have changed.
    ///
    /// With images, the objects' records as they are in this snapshot, which may hold later commits as well. Of an object that one
    /// of those changed there is none: it is not what this commit made of it. What was before is not known.
    func records(
        of sequences: ClosedRange<UInt64>, withImages: Bool, in transaction: Transaction
    ) throws -> [CommitRecord] {
        let unknown = CommitRecord(sequences: sequences, isForeign: true, changes: nil)
        guard sequences.upperBound - sequences.lowerBound < UInt64(limits.commits) else { return [unknown] }
        var records: [CommitRecord] = []
        var (bytes, imageBytes) = (0, 0)
        var entries: [History.Entry?] = []
        for sequence in sequences {
            let entry = try history.entry(sequence, in: transaction)
            bytes += (entry?.entities ?? []).reduce(0) { $0 + ($1.rows ?? []).reduce(0) { $0 + $1.byteCount } }
            if bytes > limits.bytes { return [unknown] }
            entries.append(entry)
        }
        var later = withImages ? try changedAfter(sequences.upperBound, in: transaction) : LaterChanges()
        // From the last, which is the one of which a record is what it made of the object.
        for (sequence, entry) in zip(sequences, entries).reversed() {
            let changes = try entry?.entities.map { number, rows in
                var changes = entityChanges(number, rows)
                if withImages, imageBytes <= limits.imageBytes {
                    changes.images = try images(of: changes, unless: later, in: transaction)
                    imageBytes += changes.imageBytes
                }
                return changes
            }
            if withImages { later.insert(entry) }
            records.append(
                CommitRecord(
                    sequences: sequence...sequence, isForeign: entry?.origin != origin, changes: changes,
                    stamp: entry?.stamp))
        }
        return records.reversed()
    }

    private func entityChanges(_ number: Int, _ rows: [History.Entry.Row]?) -> EntityChanges {
        var changes = EntityChanges(entity: number, name: entity(number)?.name ?? "", isComplete: rows != nil)
        changes.rows = (rows ?? []).map(\.change)
        return changes
    }

    /// The commits of the history from `first` to `last`, in order: at most `limit`, and no more than fit in `limits.bytes`, but one
    /// at least. Throws `damaged` where one is missing.
    func records(
        from first: UInt64, through last: UInt64, limit: Int, in transaction: Transaction
    ) throws -> [CommitRecord] {
        var records: [CommitRecord] = []
        var bytes = 0
        var sequence = first
        while sequence <= last, records.count < limit {
            try CancellationCheck.now()
            guard let entry = try history.entry(sequence, in: transaction) else {
                throw StoreError(
                    .damaged,
                    "The history has no entry of commit \(sequence), but of those before it: read everything anew.")
            }
            let record = CommitRecord(
                sequences: sequence...sequence, isForeign: entry.origin != origin,
                changes: entry.entities.map { entityChanges($0.entity, $0.rows) }, stamp: entry.stamp)
            bytes += record.byteCount
            if bytes > limits.bytes, !records.isEmpty { break }
            records.append(record)
            sequence += 1
        }
        return records
    }

    /// Which objects commits of the snapshot changed that come after a certain one.
    private struct LaterChanges {
        private var keys: [Int: Set<[UInt8]>] = [:]
        /// Entities any of whose objects may have changed.
        private var any: Set<Int> = []
        private var isAny = false

        func contains(_ key: [UInt8], of entity: Int) -> Bool {
            isAny || any.contains(entity) || keys[entity]?.contains(key) == true
        }

        /// Nil is a commit of which nothing is known.
        mutating func insert(_ entry: History.Entry?) {
            guard let entry else {
                isAny = true
                return
            }
            for (entity, rows) in entry.entities {
                if let rows { keys[entity, default: []].formUnion(rows.map(\.key)) } else { any.insert(entity) }
            }
        }
    }

    private func changedAfter(_ sequence: UInt64, in transaction: Transaction) throws -> LaterChanges {
        var later = LaterChanges()
        guard let last = try history.bounds(in: transaction)?.upperBound, last > sequence else { return later }
        if last - sequence > UInt64(limits.commits) {
            later.insert(nil)
            return later
        }
        for sequence in sequence + 1...last { later.insert(try history.entry(sequence, in: transaction)) }
        return later
    }

    /// Nil for an entity that this process has not opened: nobody follows it.
    private func images(
        of changes: EntityChanges, unless later: LaterChanges, in transaction: Transaction
    ) throws -> RowImages? {
        guard changes.isComplete, let entity = entity(changes.entity) else { return nil }
        var images = RowImages()
        images.areOfCommit = false
        for row in changes.rows {
            if later.contains(row.key, of: changes.entity) {
                _ = images.append(old: nil, new: nil)
                continue
            }
            let record = try row.key.withUnsafeBytes { try transaction.get(entity.records, $0) }
            if images.byteCount + (record?.count ?? 0) > limits.imageBytes { return nil }
            _ = images.append(old: nil, new: row.kind == .deleted ? nil : record)
        }
        return images
    }
}

extension History.Entry.Row {
    fileprivate var change: EntityChanges.Row { EntityChanges.Row(key: key, kind: kind, fields: fields) }
    fileprivate var byteCount: Int { change.byteCount }
}
