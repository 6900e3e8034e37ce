// SPDX-License-Identifier: Apache-2.0

import SwiftSyntax

/// What `@Entity` needs to know of a struct to write its extension.
struct EntityModel {
    /// The struct's own name, without the names of the types around it and without backticks.
    let entityName: String

    /// `public` or `package` where the generated members must carry it, otherwise `nil`.
    let access: String?

    /// The `@available` attributes of the struct, which its extension has to repeat.
    let availability: [String]

    /// The stored properties, with `id` first.
    let properties: [StoredProperty]
}

/// One stored property, as text that can be pasted into generated code.
struct StoredProperty {
    /// The name as the source spells it, with backticks if it has them.
    let spelling: String

    /// The type as the source spells it, or as its initial value implies.
    let type: String

    /// The name without backticks, as Roost's field list shows it.
    var name: String { spelling.withoutBackticks }

    var isID: Bool { name == "id" }

    /// Whether the type may have a raw value, as far as its spelling tells: those of Roost's own list have none.
    var mayHaveRawValue: Bool {
        var type = type[...]
        if type.hasPrefix("Optional<") { type = type.dropFirst("Optional<".count).dropLast() }
        while type.last == "?" { type = type.dropLast() }
        let name = type.prefix { $0 != "<" }
        return type.first != "[" && !Self.withoutRawValue.contains(String(name))
    }

    private static let withoutRawValue: Set = [
        "Array", "Bool", "Data", "Date", "Double", "Float", "Int", "Int16", "Int32", "Int64", "Int8", "Ref", "String",
        "UInt", "UInt16", "UInt32", "UInt64", "UInt8", "UUID",
    ]
}

extension String {
    /// The identifier inside backticks, or the text itself.
    var withoutBackticks: String {
        count > 2 && hasPrefix("`") && hasSuffix("`") ? String(dropFirst().dropLast()) : self
    }
}
