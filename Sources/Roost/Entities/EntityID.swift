// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A type that can identify an entity's objects: an integer, a String, a UUID, or a type with such a raw value.
///
/// ```swift
/// struct CityID: RawRepresentable, EntityID { var rawValue: Int }
/// ```
///
/// A String ID may take at most 254 bytes of UTF-8 in NFC form (`StoreError.Code.idTooLong`). Two spellings that Swift's
/// `==` calls equal are the same ID.
public protocol EntityID: FieldValue {
    /// Whether the record repeats the ID, because the key does not keep its spelling.
    @_documentation(visibility: internal)
    static var isKeptInRecord: Bool { get }
    /// Hands the record's key to `body`; nothing is allocated for integers, UUIDs and short ASCII text.
    @_documentation(visibility: internal)
    func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result
    /// Reads an ID back from a key; where `isKeptInRecord`, in a spelling that is equal to the record's.
    @_documentation(visibility: internal)
    static func load(key: UnsafeRawBufferPointer) throws(RecordFailure) -> Self
}

/// Bytes that a key may use for the object's ID.
let maximumIDKeyLength = 255

@_documentation(visibility: internal)
extension EntityID where Self: FixedWidthInteger {
    @inlinable public static var isKeptInRecord: Bool { false }

    @inlinable
    public func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        let ordered: UInt64 =
            Self.isSigned
            ? UInt64(bitPattern: Int64(truncatingIfNeeded: self)) ^ (1 << 63)
            : UInt64(truncatingIfNeeded: self)
        return try withUnsafeBytes(of: ordered.bigEndian, body)
    }

    @inlinable
    public static func load(key: UnsafeRawBufferPointer) throws(RecordFailure) -> Self {
        guard key.count == 8 else { throw .truncated }
        let ordered = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
        let value =
            Self.isSigned ? Self(exactly: Int64(bitPattern: ordered ^ (1 << 63))) : Self(exactly: ordered)
        guard let value else { throw .invalidValue }
        return value
    }
}

extension Int: EntityID {}
extension Int8: EntityID {}
extension Int16: EntityID {}
extension Int32: EntityID {}
extension Int64: EntityID {}
extension UInt: EntityID {}
extension UInt8: EntityID {}
extension UInt16: EntityID {}
extension UInt32: EntityID {}
extension UInt64: EntityID {}

@_documentation(visibility: internal)
extension UUID: EntityID {
    @inlinable public static var isKeptInRecord: Bool { false }

    @inlinable
    public func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        try withUnsafeBytes(of: uuid, body)
    }

    @inlinable
    public static func load(key: UnsafeRawBufferPointer) throws(RecordFailure) -> UUID { try load(key) }
}

@_documentation(visibility: internal)
extension EntityID where Self: RawRepresentable, RawValue: EntityID {
    @inlinable public static var isKeptInRecord: Bool { RawValue.isKeptInRecord }

    @inlinable
    public func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        try rawValue.withKey(body)
    }

    @inlinable
    public static func load(key: UnsafeRawBufferPointer) throws(RecordFailure) -> Self {
        guard let id = Self(rawValue: try RawValue.load(key: key)) else { throw .invalidValue }
        return id
    }
}
