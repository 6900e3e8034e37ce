// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// Writes the fields of an object into a record, in their order: what ``Entity/encode(to:)`` is given.
public struct RecordEncoder: ~Copyable {
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    @usableFromInline var position = 0
    @usableFromInline var nextFixed = 0
    @usableFromInline var nextEnd = 0
    @usableFromInline var nextBody = 0
    /// The first field that has no place in a record, and how many bytes there would have been with it.
    @usableFromInline var firstTooLarge: (position: Int, size: Int)?
    /// Bytes that a record may have: LMDB writes a value in one piece, which the system cuts at 2 GiB less a page.
    let limit: Int
    static let maximumSize = Transaction.longestValue

    /// With another limit for tests.
    init(limit: Int = maximumSize) {
        self.limit = limit
        capacity = min(512, limit)
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    /// The finished record; valid until the next one is begun.
    @usableFromInline
    var record: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: nextBody) }

    @inlinable
    @inline(__always)
    mutating func begin(_ shape: RecordShape, _ header: RecordHeader) {
        position = 0
        nextFixed = shape.fixedStart
        nextEnd = shape.tableStart
        nextBody = shape.bodyStart
        firstTooLarge = nil
        if nextBody > capacity { reserve(nextBody, keeping: 0) }
        base.initializeMemory(as: UInt8.self, repeating: 0, count: nextBody)
        base.storeBytes(of: header.word.littleEndian, as: UInt32.self)
    }

    /// The object's ID; nothing where the key keeps it. Always the first call.
    @inlinable
    @inline(__always)
    public mutating func encodeID<ID: EntityID>(_ id: ID) {
        if ID.isKeptInRecord { encode(id) } else { position += 1 }
    }

    /// The next field.
    @inlinable
    @inline(__always)
    public mutating func encode<Value: FieldValue>(_ value: Value) {
        if value.isNull {
            let offset = RecordShape.headerSize + position / 8
            let bits = base.load(fromByteOffset: offset, as: UInt8.self)
            base.storeBytes(of: bits | 1 << UInt8(position % 8), toByteOffset: offset, as: UInt8.self)
        }
        position += 1
        if Value.storedWidth > 0 {
            if !value.isNull { value.store(to: base + nextFixed) }
            nextFixed += Value.storedWidth
        } else {
            let length = value.storedByteCount
            if nextBody + length > capacity, !grow(to: nextBody + length, keeping: nextBody) { return }
            if length > 0 { value.store(to: base + nextBody) }
            nextBody += length
            UInt32(truncatingIfNeeded: nextBody).store(to: base + nextEnd)
            nextEnd += 4
        }
    }

    /// Writes the checksum over key and record, which finishes it.
    @usableFromInline
    mutating func seal(key: UnsafeRawBufferPointer) {
        Checksum.ofRecord(key: key, record: record).store(to: base + RecordShape.checksumOffset)
    }

    /// Makes room; false, and the field is noted, where the record would be larger than one can be. A field's lengths and
    /// offsets are never greater than what it takes in the record, so they fit into 32 bits where this has let it pass.
    @usableFromInline
    @inline(never)
    mutating func grow(to size: Int, keeping kept: Int) -> Bool {
        if size > limit {
            if firstTooLarge == nil { firstTooLarge = (position - 1, size) }
            return false
        }
        reserve(max(size, min(capacity * 2, limit)), keeping: kept)
        return true
    }

    @usableFromInline
    @inline(never)
    mutating func reserve(_ larger: Int, keeping kept: Int) {
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        moved.copyMemory(from: base, byteCount: kept)
        base.deallocate()
        base = moved
        capacity = larger
    }
}
