// SPDX-License-Identifier: Apache-2.0

/// A JSON value that keeps its members' order and every digit of a number, which Foundation's writers do not.
enum JSON {
    case null
    case bool(Bool)
    /// Digits as they are to stand.
    case number(String)
    case string(String)
    case array([JSON])
    case object([(name: String, value: JSON)])

    static func number(_ value: some BinaryInteger) -> JSON { .number(String(value)) }
    static func string(_ value: String?) -> JSON { value.map { .string($0) } ?? .null }

    /// On one line.
    var text: String {
        var result = ""
        append(to: &result, indent: nil)
        return result
    }

    /// Each member and element on a line of its own.
    var indentedText: String {
        var result = ""
        append(to: &result, indent: 0)
        return result
    }

    private func append(to result: inout String, indent: Int?) {
        switch self {
        case .null: result += "null"
        case .bool(let value): result += value ? "true" : "false"
        case .number(let digits): result += digits
        case .string(let value): Self.append(value, to: &result)
        case .array(let elements):
            Self.append(elements, "[", "]", to: &result, indent) { element, result, indent in
                element.append(to: &result, indent: indent)
            }
        case .object(let members):
            Self.append(members, "{", "}", to: &result, indent) { member, result, indent in
                Self.append(member.name, to: &result)
                result += indent == nil ? ":" : ": "
                member.value.append(to: &result, indent: indent)
            }
        }
    }

    private static func append<Part>(
        _ parts: [Part], _ opening: String, _ closing: String, to result: inout String, _ indent: Int?,
        _ body: (Part, inout String, Int?) -> Void
    ) {
        let inner = indent.map { $0 + 2 }
        func breakLine(_ indent: Int?) {
            if let indent, !parts.isEmpty { result += "\n" + String(repeating: " ", count: indent) }
        }
        result += opening
        for (index, part) in parts.enumerated() {
            if index > 0 { result += "," }
            breakLine(inner)
            body(part, &result, inner)
        }
        breakLine(indent)
        result += closing
    }

    private static func append(_ text: String, to result: inout String) {
        result += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            // The grammar asks for this of controls only; but what else a terminal obeys or hides is as well to be seen.
            case _ where scalar.isEscaped:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: result.unicodeScalars.append(scalar)
            }
        }
        result += "\""
    }
}
