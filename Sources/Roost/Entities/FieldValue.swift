// SPDX-License-Identifier: Apache-2.0

/// A type that an entity's field can have.
///
/// Roost conforms Bool, the integers, Float, Double, String, Data, Date, UUID, `Ref`, and Optional and Array of them. An
/// enum or struct with a raw value of one of these conforms by saying so:
///
/// ```swift
/// enum Status: String, FieldValue { case open, closed }
/// ```
///
/// Such a field is stored and indexed as its raw value. Equality of raw values must be the type's equality.
///
/// There is nothing to implement: Roost's extensions do it for types with raw values, and no other type can conform.
public protocol FieldValue: Hashable, Codable, Sendable {
    /// How the catalog describes the type.
    @_documentation(visibility: internal)
    static var fieldType: FieldType { get }
    /// Bytes in a record, or 0 when the length varies.
    @_documentation(visibility: internal)
    static var storedWidth: Int { get }
    /// Whether a value may be missing, and what stands for it.
    @_documentation(visibility: internal)
    static var isNullable: Bool { get }
    @_documentation(visibility: internal)
    static var null: Self? { get }
    /// Whether `<` of the type is the order of the stored value, so that an index can serve ranges and sorts.
    @_documentation(visibility: internal)
    static var isOrderedAsStored: Bool { get }
    /// The entity that a `Ref` points to.
    @_documentation(visibility: internal)
    static var referencedEntityName: String? { get }

    @_documentation(visibility: internal)
    var isNull: Bool { get }
    /// Bytes that `store` writes: `storedWidth`, or the length of this value.
    @_documentation(visibility: internal)
    var storedByteCount: Int { get }
    @_documentation(visibility: internal)
    func store(to bytes: UnsafeMutableRawPointer)
    /// Reads exactly what `store` wrote. Accepts any bytes: what is not a value throws.
    @_documentation(visibility: internal)
    static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Self
    /// The value as predicates and index keys see it.
    @_documentation(visibility: internal)
    var storedValue: StoredValue { get }
}

@_documentation(visibility: internal)
extension FieldValue {
    @inlinable public static var isNullable: Bool { false }
    @inlinable public static var null: Self? { nil }
    @inlinable public static var isOrderedAsStored: Bool { true }
    @inlinable public static var referencedEntityName: String? { nil }
    @inlinable public var isNull: Bool { false }
    @inlinable public var storedByteCount: Int { Self.storedWidth }
}
