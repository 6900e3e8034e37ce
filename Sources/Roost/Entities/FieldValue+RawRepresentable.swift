// SPDX-License-Identifier: Apache-2.0

/// A type whose `<` is the order of its raw values. A sort or a range over such a field can use an index; without it the
/// field's own `<` is applied to decoded objects.
///
/// ```swift
/// enum Priority: Int, FieldValue, RawValueOrdered { case low, normal, high }
/// ```
public protocol RawValueOrdered: FieldValue, RawRepresentable, Comparable where RawValue: Comparable {}

@_documentation(visibility: internal)
extension RawValueOrdered {
    @inlinable public static var isOrderedAsStored: Bool { true }

    @inlinable
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

@_documentation(visibility: internal)
extension FieldValue where Self: RawRepresentable, RawValue: FieldValue {
    @inlinable public static var fieldType: FieldType { RawValue.fieldType }
    @inlinable public static var storedWidth: Int { RawValue.storedWidth }
    @inlinable public static var isOrderedAsStored: Bool { false }
    @inlinable public static var referencedEntityName: String? { RawValue.referencedEntityName }
    @inlinable public var storedByteCount: Int { rawValue.storedByteCount }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) { rawValue.store(to: bytes) }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Self {
        guard let value = Self(rawValue: try RawValue.load(bytes)) else { throw .invalidValue }
        return value
    }

    @inlinable public var storedValue: StoredValue { rawValue.storedValue }
}
