// SPDX-License-Identifier: Apache-2.0

/// How an index makes entries of an object: all that declaring, storing and opening one have to know of its kind. The keys
/// are made in `StoredIndex+Keys.swift`, what it offers a query is in `Planner+Indexes.swift`.
enum IndexKind: Sendable, Equatable {
    /// One entry, of all the index's fields.
    case values
    /// An entry for each distinct element of its one field, an array.
    case elements

    /// How many fields such an index can name.
    var mostFields: Int {
        switch self {
        case .values: Int.max
        case .elements: 1
        }
    }

    /// What an entry holds of a field of that type; nil where an index of this kind cannot hold it.
    func component(of type: FieldType) -> FieldType? {
        let component =
            switch self {
            case .values: type
            case .elements: type.element
            }
        return component?.scalar == nil ? nil : component
    }

    /// Why it cannot.
    func refusal(ofField name: String) -> String {
        switch self {
        case .values: "the array \(name) needs Index(each:)."
        case .elements: "Index(each:) on \(name) needs an array of plain values."
        }
    }

    /// As `explain` and the tool print it: `City(each alternateNames)`.
    func name(_ entity: String, _ fields: [String]) -> String {
        let fields = fields.joined(separator: ", ")
        return switch self {
        case .values: "\(entity)(\(fields))"
        case .elements: "\(entity)(each \(fields))"
        }
    }
}

/// In the catalog: `each`, whether there is an entry for each element (SPEC.md, "Catalog").
extension IndexKind: Codable {
    init(from decoder: any Decoder) throws {
        self = try decoder.singleValueContainer().decode(Bool.self) ? .elements : .values
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self == .elements)
    }
}
