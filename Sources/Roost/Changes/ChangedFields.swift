// SPDX-License-Identifier: Apache-2.0

/// Which fields an update changed, by their positions in the record. Allocates nothing while those are below 64.
struct ChangedFields: Equatable, Sendable {
    /// The positions from 0 to 63.
    private var first: UInt64 = 0
    /// The ones after, 64 in each, and none at the end that is 0.
    private var rest: [UInt64] = []
    /// Whether it is not known which fields changed: any may have.
    private(set) var isAny = false

    static let none = ChangedFields()
    static let any = ChangedFields(isAny: true)

    private init(isAny: Bool = false) { self.isAny = isAny }

    init(_ positions: some Sequence<Int>) {
        for position in positions { insert(position) }
    }

    /// Compares stored bytes, field by field. Nil unless there are two records; any where one of them cannot be read.
    init?(
        from old: UnsafeRawBufferPointer?, to new: UnsafeRawBufferPointer?, layout: RecordLayout,
        key: UnsafeRawBufferPointer
    ) {
        guard let old, let new else { return nil }
        guard let before = try? RecordView(key: key, record: old, layout: layout),
            let after = try? RecordView(key: key, record: new, layout: layout)
        else {
            isAny = true
            return
        }
        for position in layout.fields.indices {
            if case .key = layout.fields[position].location { continue }
            let isSame: Bool
            if before.isNull(position) != after.isNull(position) {
                isSame = false
            } else if let left = try? before.bytes(position), let right = try? after.bytes(position) {
                isSame = StoredOrder.of(left, right) == .equal
            } else {
                isSame = false
            }
            if !isSame { insert(position) }
        }
    }

    mutating func insert(_ position: Int) {
        if position < 64 {
            first |= 1 << UInt64(position)
            return
        }
        let word = position / 64 - 1
        while rest.count <= word { rest.append(0) }
        rest[word] |= 1 << UInt64(position % 64)
    }

    mutating func formUnion(_ other: ChangedFields) {
        isAny = isAny || other.isAny
        first |= other.first
        for (word, bits) in other.rest.enumerated() {
            if word < rest.count { rest[word] |= bits } else { rest.append(bits) }
        }
    }

    func contains(_ position: Int) -> Bool {
        if isAny { return true }
        if position < 64 { return first & (1 << UInt64(position)) != 0 }
        let word = position / 64 - 1
        return word < rest.count && rest[word] & (1 << UInt64(position % 64)) != 0
    }
}

// MARK: As bytes

extension ChangedFields {
    /// Bytes up to the last one with a bit set: bit i % 8 of byte i / 8 is position i. None when any field may have changed.
    var byteCount: Int {
        if isAny { return 0 }
        if let last = rest.last { return 8 * (rest.count + 1) - last.leadingZeroBitCount / 8 }
        return 8 - first.leadingZeroBitCount / 8
    }

    func byte(_ index: Int) -> UInt8 {
        let word = index < 8 ? first : rest[index / 8 - 1]
        return UInt8(truncatingIfNeeded: word >> (8 * UInt64(index % 8)))
    }

    /// Nil when the last byte is 0, which is never written.
    init?(bytes: UnsafeRawBufferPointer) {
        guard let last = bytes.last else {
            isAny = true
            return
        }
        guard last != 0 else { return nil }
        for (index, byte) in bytes.enumerated() {
            for bit in 0..<8 where byte & (1 << UInt8(bit)) != 0 { insert(8 * index + bit) }
        }
    }
}
