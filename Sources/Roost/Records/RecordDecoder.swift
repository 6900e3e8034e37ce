// SPDX-License-Identifier: Apache-2.0

/// Reads one record's fields in order, from the bytes that LMDB maps. The values own what they hold.
///
/// Any bytes are accepted: what is not a record of the expected layout throws.
public struct RecordDecoder {
    @usableFromInline let base: UnsafeRawPointer
    @usableFromInline let count: Int
    @usableFromInline let key: UnsafeRawBufferPointer
    /// The null bits of the first 64 fields, loaded once.
    @usableFromInline let nulls: UInt64
    /// The next field, for the null bits and for naming the field that failed.
    @usableFromInline var position = 0
    @usableFromInline var nextFixed: Int
    @usableFromInline var nextEnd: Int
    @usableFromInline var nextBody: Int

    @inlinable
    @inline(__always)
    init(
        key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer, shape: RecordShape, header: RecordHeader
    ) throws(RecordFailure) {
        guard record.count >= shape.bodyStart, let base = record.baseAddress else { throw .truncated }
        guard UInt32(littleEndian: base.loadUnaligned(as: UInt32.self)) == header.word else { throw .otherLayout }
        self.base = base
        self.count = record.count
        self.key = key
        var nulls: UInt64 = 0
        for byte in 0..<min(8, (shape.fieldCount + 7) / 8) {
            nulls |=
                UInt64(base.load(fromByteOffset: RecordShape.headerSize + byte, as: UInt8.self)) << UInt64(8 * byte)
        }
        self.nulls = nulls
        nextFixed = shape.fixedStart
        nextEnd = shape.tableStart
        nextBody = shape.bodyStart
    }

    /// The object's ID, from the key or the record. Always the first call.
    @inlinable
    @inline(__always)
    public mutating func decodeID<ID: EntityID>(_ type: ID.Type) throws(RecordFailure) -> ID {
        if ID.isKeptInRecord { return try decode(type) }
        position += 1
        return try ID.load(key: key)
    }

    /// Whether the next field is missing.
    @inlinable
    @inline(__always)
    var isNull: Bool {
        if position < 64 { return nulls & (1 << UInt64(truncatingIfNeeded: position)) != 0 }
        let bits = base.load(fromByteOffset: RecordShape.headerSize + position / 8, as: UInt8.self)
        return bits & (1 << UInt8(truncatingIfNeeded: position % 8)) != 0
    }

    /// The next field.
    @inlinable
    @inline(__always)
    public mutating func decode<Value: FieldValue>(_: Value.Type) throws(RecordFailure) -> Value {
        let bytes: UnsafeRawBufferPointer
        if Value.storedWidth > 0 {
            // Within the record: its size was checked against the shape.
            bytes = UnsafeRawBufferPointer(start: base + nextFixed, count: Value.storedWidth)
            nextFixed += Value.storedWidth
        } else {
            let end = Int(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: nextEnd, as: UInt32.self)))
            guard nextBody <= end, end <= count else { throw .badOffsets }
            bytes = UnsafeRawBufferPointer(start: base + nextBody, count: end - nextBody)
            nextEnd += 4
            nextBody = end
        }
        if isNull {
            guard Value.isNullable, let null = Value.null else { throw .unexpectedNull }
            position += 1
            return null
        }
        let value = try Value.load(bytes)
        position += 1
        return value
    }
}
