// SPDX-License-Identifier: Apache-2.0

/// Tells whether a commit can change the result of a fetch, by the changed objects before and after.
struct CommitFilter: Sendable {
    let entity: StoredEntity
    let filter: Filter

    func matches(_ commit: CommitRecord) -> Bool {
        guard let changes = commit.changes else { return true }
        guard let changed = changes.first(where: { $0.entity == entity.number }) else { return false }
        if !changed.isComplete { return true }
        return changed.rows.indices.contains { index in
            changed.withImages(of: index) { old, new in
                let key = changed.rows[index].key
                return switch changed.rows[index].kind {
                case .inserted: matches(key, new)
                case .deleted: matches(key, old)
                case .updated: matches(key, old) || matches(key, new)
                }
            }
        }
    }

    /// An object that cannot be tested counts as a match: the fetch will tell.
    private func matches(_ key: [UInt8], _ image: UnsafeRawBufferPointer?) -> Bool {
        guard let image else { return true }
        return key.withUnsafeBytes { key in
            do {
                return try filter.matches(RecordView(key: key, record: image, layout: entity.layout))
            } catch {
                return true
            }
        }
    }
}
