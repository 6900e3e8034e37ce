// SPDX-License-Identifier: Apache-2.0

/// CRC-32C (Castagnoli, reflected, polynomial 0x1EDC6F41), eight bytes a step.
enum Checksum {
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for index in 0..<256 {
            var value = UInt32(index)
            for _ in 0..<8 { value = value & 1 != 0 ? 0x82F6_3B78 ^ (value >> 1) : value >> 1 }
            tables[index] = value
        }
        for index in 0..<256 {
            for step in 1..<8 {
                let previous = tables[(step - 1) * 256 + index]
                tables[step * 256 + index] = tables[Int(previous & 0xFF)] ^ (previous >> 8)
            }
        }
        return tables
    }()

    static func crc32c(_ parts: UnsafeRawBufferPointer...) -> UInt32 {
        var state = ~UInt32(0)
        for part in parts { update(&state, part) }
        return ~state
    }

    static func update(_ state: inout UInt32, _ bytes: UnsafeRawBufferPointer) {
        tables.withUnsafeBufferPointer { table in
            var crc = state
            var offset = 0
            while offset + 8 <= bytes.count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                let low = UInt32(truncatingIfNeeded: word) ^ crc
                let high = UInt32(truncatingIfNeeded: word >> 32)
                crc =
                    table[7 * 256 + Int(low & 0xFF)] ^ table[6 * 256 + Int(low >> 8 & 0xFF)]
                    ^ table[5 * 256 + Int(low >> 16 & 0xFF)] ^ table[4 * 256 + Int(low >> 24)]
                crc ^=
                    table[3 * 256 + Int(high & 0xFF)] ^ table[2 * 256 + Int(high >> 8 & 0xFF)]
                    ^ table[1 * 256 + Int(high >> 16 & 0xFF)] ^ table[Int(high >> 24)]
                offset += 8
            }
            while offset < bytes.count {
                crc = table[Int((crc ^ UInt32(bytes[offset])) & 0xFF)] ^ (crc >> 8)
                offset += 1
            }
            state = crc
        }
    }

    /// The checksum of a record: over its key and all its bytes but the checksum's own.
    static func ofRecord(key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer) -> UInt32 {
        var state = ~UInt32(0)
        update(&state, key)
        update(&state, UnsafeRawBufferPointer(rebasing: record[..<RecordShape.checksumOffset]))
        update(&state, UnsafeRawBufferPointer(rebasing: record[RecordShape.headerSize...]))
        return ~state
    }
}
