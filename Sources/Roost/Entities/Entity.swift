// SPDX-License-Identifier: Apache-2.0

/// A type whose values a store keeps: a struct of fields, identified by `id`.
///
/// Put `@Entity` before the struct; the macro writes the conformance.
///
/// ```swift
/// @Entity struct City {
///     var id: Int
///     var name: String
///     var population: Int
///
///     static let indexes: [Index<City>] = [Index(\.name), Index(\.population)]
/// }
/// ```
///
/// It can be written by hand as well: `fields`, `recordShape`, `encode` and `init(from:)` must then name the same fields
/// in the same order, `id` first.
public protocol Entity: Identifiable, Sendable where ID: EntityID {
    /// The name under which the store's catalog knows the entity.
    static var entityName: String { get }
    /// The fields, `id` first. Read when a store is opened.
    static var fields: [Field<Self>] { get }
    /// The secondary indexes. None unless declared.
    static var indexes: [Index<Self>] { get }
    /// How many bytes the fixed parts of a record take.
    static var recordShape: RecordShape { get }
    /// Writes the fields into a record.
    func encode(to encoder: inout RecordEncoder)
    /// Reads the fields of a record.
    init(from decoder: inout RecordDecoder) throws(RecordFailure)
}

extension Entity {
    /// None.
    public static var indexes: [Index<Self>] { [] }
}

/// Makes a struct an `Entity`: writes its field table, its encoder and its decoder.
///
/// Every stored property becomes a field, and must have a type that conforms to `FieldValue`. `id` is required and
/// identifies the object; it may be an integer, a String, a UUID or a type with such a raw value. What cannot be stored is
/// an error at its place.
@attached(
    extension, conformances: Entity,
    names: named(entityName), named(fields), named(recordShape), named(encode(to:)), named(init(from:)))
public macro Entity() = #externalMacro(module: "RoostMacros", type: "EntityMacro")
