// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

extension StoredEntity {
    /// What reading and writing one object needs of its entity, in plain memory: references are not counted for each object.
    /// The entity outlives it, since the store that made both is in use.
    @usableFromInline
    struct Handle {
        @usableFromInline let header: RecordHeader
        let records: Database
        private let unmanaged: Unmanaged<StoredEntity>

        init(_ entity: StoredEntity) {
            header = entity.layout.header
            records = entity.records
            unmanaged = .passUnretained(entity)
        }

        @usableFromInline var entity: StoredEntity { unmanaged.takeUnretainedValue() }
    }
}
