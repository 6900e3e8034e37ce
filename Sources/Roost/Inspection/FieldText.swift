// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How a value of each kind is spelled by people. What the tool prints can be given back to it.
enum FieldText {
    /// What was expected in place of the text.
    struct Mismatch: Error {
        let expected: String
    }

    static func value(_ text: String, _ scalar: FieldType.Scalar) throws(Mismatch) -> StoredValue {
        switch scalar {
        case .bool:
            switch text {
            case "true": return .bool(true)
            case "false": return .bool(false)
            default: throw Mismatch(expected: "true or false")
            }
        case .int8: return .int(Int64(try integer(text, Int8.self)))
        case .int16: return .int(Int64(try integer(text, Int16.self)))
        case .int32: return .int(Int64(try integer(text, Int32.self)))
        case .int64: return .int(try integer(text, Int64.self))
        case .uint8: return .uint(UInt64(try integer(text, UInt8.self)))
        case .uint16: return .uint(UInt64(try integer(text, UInt16.self)))
        case .uint32: return .uint(UInt64(try integer(text, UInt32.self)))
        case .uint64: return .uint(try integer(text, UInt64.self))
        case .float: return .double(Double(try number(text, Float.self)))
        case .double: return .double(try number(text, Double.self))
        case .date:
            guard let seconds = DateText.seconds(text) else {
                throw Mismatch(expected: "a date such as 2024-05-31 or 2024-05-31T18:30:00.25Z")
            }
            return .double(seconds)
        case .uuid:
            guard let id = UUID(uuidString: text) else {
                throw Mismatch(expected: "a UUID such as E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
            }
            return id.storedValue
        case .string: return text.storedValue
        case .data:
            guard let bytes = bytes(hex: text) else {
                throw Mismatch(expected: "data in hexadecimal, two digits a byte")
            }
            return .bytes(bytes)
        }
    }

    private static func integer<T: FixedWidthInteger>(_ text: String, _: T.Type) throws(Mismatch) -> T {
        guard let value = T(text) else { throw Mismatch(expected: "an integer from \(T.min) to \(T.max)") }
        return value
    }

    /// Whatever Swift reads; but a number too large for the type is not infinity.
    private static func number<T: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: String, _: T.Type
    ) throws(Mismatch) -> T {
        guard let value = T(text) else { throw Mismatch(expected: "a number, inf, -inf or nan") }
        guard value.isFinite || text.contains(where: { "nN".contains($0) }) else {
            throw Mismatch(expected: "a number up to \(T.greatestFiniteMagnitude), inf, -inf or nan")
        }
        return value
    }

    private static func bytes(hex text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digit(digits[index]), let low = digit(digits[index + 1]) else { return nil }
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
}
