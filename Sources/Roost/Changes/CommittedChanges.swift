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
    /// With images, the objects' records as they are in this snapshot, which may hold later commits as well: those are told
    /// of after these. What was before is not known.
    func records(
        of sequences: ClosedRange<UInt64>, withImages: Bool, in transaction: Transaction
    ) throws -> [CommitRecord] {
        let unknown = CommitRecord(sequences: sequences, isForeign: true, changes: nil)
        guard sequences.upperBound - sequences.lowerBound < UInt64(limits.commits) else { return [unknown] }
        var records: [CommitRecord] = []
        var (bytes, imageBytes) = (0, 0)
        for sequence in sequences {
            let entry = try history.entry(sequence, in: transaction)
            let changes = try entry?.entities.map { number, rows in
                var changes = EntityChanges(entity: number, name: entity(number)?.name ?? "", isComplete: rows != nil)
                changes.rows = (rows ?? []).map { EntityChanges.Row(key: $0.key, kind: $0.kind, fields: $0.fields) }
                bytes += changes.rowBytes
                if withImages, imageBytes <= limits.imageBytes {
                    changes.images = try images(of: changes, in: transaction)
                    imageBytes += changes.imageBytes
                }
                return changes
            }
            if bytes > limits.bytes { return [unknown] }
            records.append(
                CommitRecord(sequences: sequence...sequence, isForeign: entry?.origin != origin, changes: changes))
        }
        return records
    }

    /// Nil for an entity that this process has not opened: nobody follows it.
    private func images(of changes: EntityChanges, in transaction: Transaction) throws -> RowImages? {
        guard changes.isComplete, let entity = entity(changes.entity) else { return nil }
        var images = RowImages()
        for row in changes.rows {
            let record = try row.key.withUnsafeBytes { try transaction.get(entity.records, $0) }
            if images.byteCount + (record?.count ?? 0) > limits.imageBytes { return nil }
            _ = images.append(old: nil, new: row.kind == .deleted ? nil : record)
        }
        return images
    }
}
