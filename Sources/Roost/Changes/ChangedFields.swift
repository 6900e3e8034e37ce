// SPDX-License-Identifier: Apache-2.0

/// Which fields an update changed, by their position in the record; bit 63 stands for every position from 63 on.
struct ChangedFields: Equatable, Sendable {
    var bits: UInt64

    static let none = ChangedFields(bits: 0)
    /// Not known which: every field.
    static let any = ChangedFields(bits: .max)

    init(bits: UInt64) { self.bits = bits }

    /// Compares stored bytes, field by field. Nil unless there are two records.
    init?(
        from old: UnsafeRawBufferPointer?, to new: UnsafeRawBufferPointer?, layout: RecordLayout,
        key: UnsafeRawBufferPointer
    ) {
        guard let old, let new else { return nil }
        bits = 0
        guard let before = try? RecordView(key: key, record: old, layout: layout),
            let after = try? RecordView(key: key, record: new, layout: layout)
        else {
            bits = .max
            return
        }
        for position in layout.fields.indices {
            if case .key = layout.fields[position].location { continue }
            let same: Bool
            if before.isNull(position) != after.isNull(position) {
                same = false
            } else if let left = try? before.bytes(position), let right = try? after.bytes(position) {
                same = StoredOrder.of(left, right) == .equal
            } else {
                same = false
            }
            if !same { bits |= 1 << UInt64(min(position, 63)) }
        }
    }

    func contains(_ position: Int) -> Bool { bits & (1 << UInt64(min(position, 63))) != 0 }
}
