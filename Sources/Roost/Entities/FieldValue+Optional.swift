// SPDX-License-Identifier: Apache-2.0

/// A missing value is a bit of the record; its bytes are zero (fixed width) or none.
@_documentation(visibility: internal)
extension Optional: FieldValue where Wrapped: FieldValue {
    public static var fieldType: FieldType { .optional(Wrapped.fieldType) }
    @inlinable public static var storedWidth: Int { Wrapped.storedWidth }
    @inlinable public static var isNullable: Bool { true }
    @inlinable public static var null: Wrapped?? { .some(.none) }
    @inlinable public static var isOrderedAsStored: Bool { Wrapped.isOrderedAsStored }
    @inlinable public static var referencedEntityName: String? { Wrapped.referencedEntityName }
    @inlinable public var isNull: Bool { self == nil }

    @inlinable
    public var storedByteCount: Int {
        guard let self else { return 0 }
        return self.storedByteCount
    }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) {
        if let self { self.store(to: bytes) }
    }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Wrapped? {
        try Wrapped.load(bytes)
    }

    public var storedValue: StoredValue {
        guard let self else { return .null }
        return self.storedValue
    }
}
