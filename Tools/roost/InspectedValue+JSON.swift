// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

extension InspectedValue {
    /// As `JSONEncoder` writes the field, and its strategies for numbers that are not finite; dates as text.
    var json: JSON { json { .string(Data($0).base64EncodedString()) } }

    private func json(_ data: ([UInt8]) -> JSON) -> JSON {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): .number(value)
        case .uint(let value): .number(value)
        case .float(let value): value.isFinite ? .number("\(value)") : .string(text)
        case .double(let value): value.isFinite ? .number("\(value)") : .string(text)
        case .list(let elements): .array(elements.map { $0.json(data) })
        case .data(let bytes): data(bytes)
        case .date, .text, .uuid: .string(text)
        }
    }

    /// As a condition would spell it; lists as in JSON, of elements that are spelled so.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .uint(let value): "\(value)"
        // There are many, and none equals anything: one spelling is enough.
        case .float(let value): value.isNaN ? "nan" : "\(value)"
        case .double(let value): value.isNaN ? "nan" : "\(value)"
        case .date(let seconds): DateText.text(seconds)
        case .text(let value): value
        case .data(let bytes): Self.hexadecimal(bytes)
        case .uuid(let value): value.uuidString
        case .list: json { .string(Self.hexadecimal($0)) }.text
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
