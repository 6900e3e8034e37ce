// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// What reading and writing one object needs of its entity, in plain memory: references are not counted for each object.
/// The state outlives it, since the store that made both is in use.
@usableFromInline
struct EntityHandle {
    @usableFromInline let header: RecordHeader
    let records: Database
    private let unmanaged: Unmanaged<EntityState>

    init(_ state: EntityState) {
        header = state.layout.header
        records = state.records
        unmanaged = .passUnretained(state)
    }

    @usableFromInline var state: EntityState { unmanaged.takeUnretainedValue() }
}
