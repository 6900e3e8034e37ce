// SPDX-License-Identifier: Apache-2.0

/// Writes the extension that makes a struct an entity.
///
/// Everything is spelled `Roost.…` so that a type of the user's with a name like `Field` cannot get in the way.
struct ExtensionWriter {
    let model: EntityModel

    /// The full name of the type, such as `Outer.City`.
    let typeName: String

    /// Whether the extension says `: Roost.Entity`; not if the struct already says so itself.
    let statesConformance: Bool

    var source: String {
        let conformance = statesConformance ? ": Roost.Entity" : ""
        return """
            \(availability)extension \(typeName)\(conformance) {
                \(access)static var entityName: String { \(quoted(model.entityName)) }
                \(access)static var fields: [Roost.Field<\(typeName)>] {
                    [\(fields)]
                }
                @inline(__always) \(access)static var recordShape: Roost.RecordShape {
                    Roost.RecordShape(fieldCount: \(model.properties.count))\(shape)
                }
                @inline(__always) \(access)func encode(to encoder: inout Roost.RecordEncoder) {
            \(encoding)
                }
                @inline(__always) \(access)init(from decoder: inout Roost.RecordDecoder) throws(Roost.RecordFailure) {
            \(decoding)
                }
            }
            """
    }

    private var availability: String {
        model.availability.map { $0 + "\n" }.joined()
    }

    private var access: String {
        model.access.map { $0 + " " } ?? ""
    }

    private var fields: String {
        model.properties
            .map { property in
                // Whether the type has a raw value the compiler knows, and takes the right member.
                let raw = property.mayHaveRawValue ? ", Roost.RawValuePath<\(property.type)>().rawValue" : ""
                return "Roost.Field(\(quoted(property.name)), \\\(typeName).\(property.spelling)\(raw))"
            }
            .joined(separator: ", ")
    }

    private var shape: String {
        model.properties
            .map { $0.isID ? ".id((\($0.type)).self)" : ".field((\($0.type)).self)" }
            .joined()
    }

    private var encoding: String {
        lines { "encoder.\($0.isID ? "encodeID" : "encode")(\(value(of: $0)))" }
    }

    /// All values first, then all assignments: a throw between two assignments would make the compiler keep the struct
    /// in memory, half made, and copy it out at the end.
    private var decoding: String {
        var values: [String] = []
        var assignments: [String] = []
        for (index, property) in model.properties.enumerated() {
            let call = property.isID ? "decodeID" : "decode"
            values.append("        let value\(index) = try decoder.\(call)((\(property.type)).self)")
            assignments.append("        self.\(property.spelling) = value\(index)")
        }
        return (values + assignments).joined(separator: "\n")
    }

    /// One indented statement for each property.
    private func lines(_ statement: (StoredProperty) -> String) -> String {
        model.properties.map { "        " + statement($0) }.joined(separator: "\n")
    }

    /// How `encode(to:)` names a property: bare, unless its own parameter would be meant.
    private func value(of property: StoredProperty) -> String {
        property.name == "encoder" || property.name == "self" ? "self.\(property.spelling)" : property.spelling
    }

    /// A string literal for a name, which may hold any character if it is a raw identifier.
    private func quoted(_ name: String) -> String {
        "\"" + name.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
    }
}
