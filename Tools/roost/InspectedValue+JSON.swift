// SPDX-License-Identifier: Apache-2.0

import Roost

extension InspectedValue {
    /// As `JSONEncoder` writes the field, and its strategies for numbers that are not finite; dates as text.
    var json: JSON { json(spelledAsText: false) }

    private func json(spelledAsText: Bool) -> JSON {
        switch self {
        case .null: .null
        case .list(let elements): .array(elements.map { $0.json(spelledAsText: spelledAsText) })
        case .scalar(let scalar):
            switch scalar.json {
            case .bool(let value): .bool(value)
            case .number(let digits): .number(digits)
            case .string(let text): .string(spelledAsText ? scalar.text : text)
            }
        }
    }

    /// As a condition would spell it; lists as in JSON, of elements that are spelled so.
    var text: String {
        switch self {
        case .null: "null"
        case .scalar(let scalar): scalar.text
        case .list: json(spelledAsText: true).text
        }
    }

    var isNumber: Bool {
        if case .scalar(let scalar) = self { return scalar.isNumber }
        return false
    }
}
