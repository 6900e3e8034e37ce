// SPDX-License-Identifier: Apache-2.0

/// A record's bytes read through its layout, without the Swift type and without copying. Any bytes can be looked at.
struct RecordView {
    let key: UnsafeRawBufferPointer
    let record: UnsafeRawBufferPointer
    let layout: RecordLayout

    init(
        key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer, layout: RecordLayout
    ) throws(RecordFailure) {
        guard record.count >= layout.shape.bodyStart else { throw .truncated }
        guard UInt32(littleEndian: record.loadUnaligned(as: UInt32.self)) == layout.header.word else {
            throw .otherLayout
        }
        self.key = key
        self.record = record
        self.layout = layout
    }

    @inline(__always)
    func isNull(_ position: Int) -> Bool {
        record[RecordShape.headerSize + position / 8] & (1 << UInt8(position % 8)) != 0
    }

    /// The field's stored bytes. A key's are in key form: see `value`.
    @inline(__always)
    func bytes(_ position: Int) throws(RecordFailure) -> UnsafeRawBufferPointer {
        switch layout.fields[position].location {
        case .key: return key
        case .fixed(let offset, let width):
            return UnsafeRawBufferPointer(rebasing: record[offset..<offset + width])
        case .variable(let index):
            let table = layout.shape.tableStart + 4 * index
            let start = index == 0 ? layout.shape.bodyStart : offset(at: table - 4)
            let end = offset(at: table)
            guard layout.shape.bodyStart <= start, start <= end, end <= record.count else { throw .badOffsets }
            return UnsafeRawBufferPointer(rebasing: record[start..<end])
        }
    }

    @inline(__always)
    private func offset(at position: Int) -> Int {
        Int(UInt32(littleEndian: record.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
    }

    /// Any bytes can be looked at.
    static func hasValidChecksum(key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer) -> Bool {
        guard record.count >= RecordShape.headerSize else { return false }
        return UInt32(littleEndian: record.loadUnaligned(fromByteOffset: RecordShape.checksumOffset, as: UInt32.self))
            == Checksum.ofRecord(key: key, record: record)
    }

    // MARK: Values

    /// Decodes a field of any type; allocates for text, data and arrays.
    func value(_ position: Int) throws(RecordFailure) -> StoredValue {
        if isNull(position) { return .null }
        let field = layout.fields[position]
        let bytes = try bytes(position)
        guard let scalar = field.scalar else { return .list(try Self.elements(bytes, field.type)) }
        if case .key = field.location { return try scalar.codec.read(key: bytes).storedValue }
        return try scalar.codec.value(stored: bytes)
    }

    /// The text of a String field in its own spelling, for those who print it.
    func text(_ position: Int) throws(RecordFailure) -> String { try String.load(bytes(position)) }

    static func value(_ bytes: UnsafeRawBufferPointer, _ type: FieldType) throws(RecordFailure) -> StoredValue {
        guard let scalar = type.scalar else { return .list(try elements(bytes, type)) }
        return try scalar.codec.value(stored: bytes)
    }

    static func elements(_ bytes: UnsafeRawBufferPointer, _ type: FieldType) throws(RecordFailure) -> [StoredValue] {
        var values: [StoredValue] = []
        try forEachElement(bytes, type) { (element, elementType) throws(RecordFailure) in
            values.append(try element.map { (bytes) throws(RecordFailure) in try value(bytes, elementType) } ?? .null)
        }
        return values
    }
}
