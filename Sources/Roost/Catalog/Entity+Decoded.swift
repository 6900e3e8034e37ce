// SPDX-License-Identifier: Apache-2.0

extension Entity {
    /// Decodes a record, and turns a failure into an error that names entity, ID and field.
    @inlinable
    @inline(__always)
    static func decoded(
        key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer, handle: StoredEntity.Handle
    ) throws -> Self {
        do throws(RecordFailure) {
            var decoder = try RecordDecoder(key: key, record: record, shape: recordShape, header: handle.header)
            return try Self(from: &decoder)
        } catch {
            throw damaged(error, key: key, record: record, handle: handle)
        }
    }

    @usableFromInline
    @inline(never)
    static func damaged(
        _ failure: RecordFailure, key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer,
        handle: StoredEntity.Handle
    ) -> StoreError {
        let entity = handle.entity
        // Decoded once more, to learn how far it gets.
        let fields = entity.layout.fields
        var field: String?
        if var decoder = try? RecordDecoder(key: key, record: record, shape: recordShape, header: handle.header) {
            _ = try? Self(from: &decoder)
            if decoder.position < fields.count { field = fields[decoder.position].name }
        }
        return entity.damaged(failure, key: key, record: record, field: field)
    }
}
