// SPDX-License-Identifier: Apache-2.0

import Foundation

@_documentation(visibility: internal)
extension Data: FieldValue {
    public static var fieldType: FieldType { .scalar(.data) }
    @inlinable public static var storedWidth: Int { 0 }
    @inlinable public var storedByteCount: Int { count }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) {
        withUnsafeBytes { source in
            if let start = source.baseAddress { bytes.copyMemory(from: start, byteCount: source.count) }
        }
    }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Data { Data(bytes) }

    public var storedValue: StoredValue { .bytes(Array(self)) }
}

extension Data: ScalarCodec {
    static var keyWidth: Int { 0 }

    static func value(stored bytes: UnsafeRawBufferPointer) -> StoredValue { .bytes(Array(bytes)) }

    @inline(__always)
    static func order(stored bytes: UnsafeRawBufferPointer, _ value: StoredValue) throws(RecordFailure) -> StoredOrder {
        guard case .bytes(let value) = value else { return .unordered }
        return value.withUnsafeBytes { .of(bytes, $0) }
    }

    static func appendKey(stored bytes: UnsafeRawBufferPointer, to key: inout KeyBytes, limit: Int) -> Bool {
        key.append(escaping: bytes, limit: limit)
    }

    /// All bytes are data.
    @inline(__always)
    static func validate(stored bytes: UnsafeRawBufferPointer) throws(RecordFailure) {}

    static func parse(_ text: String) throws(ScalarMismatch) -> Data {
        let digits = Array(text.utf8)
        var bytes = Data(capacity: digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard index + 1 < digits.count, let high = digit(digits[index]), let low = digit(digits[index + 1]) else {
                throw ScalarMismatch(expected: "data in hexadecimal, two digits a byte")
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    var printed: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    var printedJSON: ScalarJSON { .string(base64EncodedString()) }
}
