// SPDX-License-Identifier: Apache-2.0

import Roost

extension InspectedValue {
    var json: JSON {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): .number(value)
        case .uint(let value): .number(value)
        case .float(let value): value.isFinite ? .number("\(value)") : .string("\(value)")
        case .double(let value): value.isFinite ? .number("\(value)") : .string("\(value)")
        case .list(let elements): .array(elements.map(\.json))
        case .date, .text, .data, .uuid: .string(text)
        }
    }

    /// As a condition would spell it; lists as in JSON.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .uint(let value): "\(value)"
        case .float(let value): "\(value)"
        case .double(let value): "\(value)"
        case .date(let seconds): DateText.text(seconds)
        case .text(let value): value
        case .data(let bytes): Self.hexadecimal(bytes)
        case .uuid(let value): value.uuidString
        case .list: json.text
        }
    }

    var isNumber: Bool {
        switch self {
        case .int, .uint, .float, .double: true
        default: false
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
