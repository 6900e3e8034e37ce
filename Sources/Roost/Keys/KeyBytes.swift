// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A key under construction: values encoded so that `memcmp` orders keys as the values are ordered (SPEC.md, "Keys").
///
/// Reused from one key to the next; its storage grows to the longest key once.
@usableFromInline
struct KeyBytes: Sendable {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(64) }

    var count: Int { bytes.count }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func truncate(to count: Int) { bytes.removeLast(bytes.count - count) }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    // MARK: Parts

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(_ raw: UnsafeRawBufferPointer) { bytes.append(contentsOf: raw) }

    mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    @inline(__always)
    mutating func append(int value: Int64) { append(uint: UInt64(bitPattern: value) ^ (1 << 63)) }

    @inline(__always)
    mutating func append(uint value: UInt64) {
        Swift.withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// One key for both zeros, one for all NaNs, after +infinity.
    mutating func append(double value: Double) {
        let canonical = value == 0 ? 0 : value.isNaN ? Double.nan : value
        let bits = canonical.bitPattern
        append(uint: bits & (1 << 63) != 0 ? ~bits : bits | (1 << 63))
    }

    /// Text and data: 00 is written 01 01 and 01 is written 01 02, and 00 ends the value, so that no value's bytes are a
    /// prefix of another's and whatever follows cannot disturb the order.
    ///
    /// A value whose escaped form is longer than `limit` is cut there; 01 and the 64-bit FNV-1a hash of the whole value
    /// take the place of the end. Such a key is found by equality, but says nothing about order beyond its cut. Returns
    /// whether the key is exact.
    @discardableResult
    mutating func append(escaping raw: UnsafeRawBufferPointer, limit: Int) -> Bool {
        let start = bytes.count
        if raw.count <= limit, !raw.contains(where: { $0 <= 1 }) {
            bytes.append(contentsOf: raw)
        } else {
            for byte in raw {
                if byte <= 1 {
                    bytes.append(1)
                    bytes.append(byte + 1)
                } else {
                    bytes.append(byte)
                }
                if bytes.count - start > limit {
                    bytes.removeLast(bytes.count - start - limit)
                    bytes.append(1)
                    append(uint: Self.hash(raw))
                    return false
                }
            }
        }
        bytes.append(0)
        return true
    }

    /// The value of an escaped form that is exact and alone; nil for any other bytes.
    static func unescaped(_ raw: UnsafeRawBufferPointer) -> [UInt8]? {
        var value: [UInt8] = []
        var offset = 0
        while offset < raw.count {
            let byte = raw[offset]
            offset += 1
            if byte == 0 { return offset == raw.count ? value : nil }
            if byte == 1 {
                guard offset < raw.count, raw[offset] == 1 || raw[offset] == 2 else { return nil }
                value.append(raw[offset] - 1)
                offset += 1
            } else {
                value.append(byte)
            }
        }
        return nil
    }

    @discardableResult
    mutating func appendText(_ text: String, limit: Int) -> Bool {
        var copy = text
        return copy.withUTF8 { utf8 in
            NormalizedText.withNormalized(UnsafeRawBufferPointer(utf8)) { append(escaping: $0, limit: limit) }
        }
    }

    /// Turns the order of everything since `start` around.
    mutating func invert(from start: Int) {
        for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }

    /// FNV-1a, 64 bits.
    static func hash(_ raw: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in raw { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }

    // MARK: Values

    /// A value that is not null. Returns whether the key is exact.
    @discardableResult
    mutating func append(_ value: StoredValue, limit: Int) -> Bool {
        switch value {
        case .bool(let value): append(value ? 1 : 0)
        case .int(let value): append(int: value)
        case .uint(let value): append(uint: value)
        case .double(let value): append(double: value)
        case .uuid(let value): bytes.append(contentsOf: value)
        case .text(let value), .bytes(let value):
            return value.withUnsafeBytes { append(escaping: $0, limit: limit) }
        case .null, .list: break
        }
        return true
    }
}
