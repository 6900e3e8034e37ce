// SPDX-License-Identifier: Apache-2.0

/// Text made fit for one line of a terminal.
enum CellText {
    /// Line breaks, controls and what cannot be seen as escapes: a value must not move the cursor, end a row, turn the
    /// direction of what follows it, or look like another value.
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isEscaped) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result.append(contentsOf: "\\n".unicodeScalars)
            case "\r": result.append(contentsOf: "\\r".unicodeScalars)
            case "\t": result.append(contentsOf: "\\t".unicodeScalars)
            case _ where scalar.isEscaped:
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Columns that a terminal gives the text; beyond `limit` it is not measured.
    static func width(_ text: String, upTo limit: Int) -> Int {
        var width = 0
        for character in text {
            width += Self.width(character)
            if width > limit { break }
        }
        return width
    }

    private static func width(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        // The blocks of East Asian wide characters and of emoji.
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// The text, escaped, within `limit` columns, its end replaced by an ellipsis where it is longer.
    static func shortened(_ text: String, to limit: Int) -> String {
        // A character may have any number of marks. Nobody reads more of them than this.
        let part = text.unicodeScalars.prefix(8 * limit)
        let isWhole = part.endIndex == text.unicodeScalars.endIndex
        let escaped = escaped(String(String.UnicodeScalarView(part)))
        if isWhole && width(escaped, upTo: limit) <= limit { return escaped }
        var result = ""
        var used = 1
        for character in escaped {
            used += width(character)
            if used > limit { break }
            result.append(character)
        }
        return result + "…"
    }
}

extension Unicode.Scalar {
    /// Whether it is shown as an escape: it does something to a terminal, or nothing is seen of it.
    var isEscaped: Bool {
        if value < 0x7F { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        // Marks of direction, joiners, tags; but a sign that encloses the digits behind it is seen.
        case .format: return !isPrependedSign
        default: return properties.isDefaultIgnorableCodePoint && !properties.isVariationSelector
        }
    }

    /// The format characters that are visible (Unicode's Prepended_Concatenation_Mark).
    private var isPrependedSign: Bool {
        switch value {
        case 0x600...0x605, 0x6DD, 0x70F, 0x890...0x891, 0x8E2, 0x110BD, 0x110CD: true
        default: false
        }
    }
}
