// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Everything that the store has to know of one kind of value: how it is stored (`FieldValue`), compared where it lies, put
/// into a key, read from text and printed.
///
/// A new kind is a case of `FieldType.Scalar`, a file beside this one, and its lines at the end of this one.
protocol ScalarCodec: FieldValue {
    /// Bytes in an index key; 0 when the length varies.
    static var keyWidth: Int { get }

    /// The value of stored bytes, as predicates see it; allocates for UUIDs, text and data.
    static func value(stored bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> StoredValue
    /// Compares stored bytes with a value of the kind, without making a value of the bytes. Values of other kinds are
    /// `unordered`.
    static func order(stored bytes: UnsafeRawBufferPointer, _ value: StoredValue) throws(RecordFailure) -> StoredOrder
    /// Appends the key form of stored bytes, which have the kind's stored width. Returns whether the key is exact.
    static func appendKey(stored bytes: UnsafeRawBufferPointer, to key: inout KeyBytes, limit: Int) -> Bool
    /// Throws what `load` throws, without making a value where that would allocate. The bytes of a kind with a stored width
    /// have that width.
    static func validate(stored bytes: UnsafeRawBufferPointer) throws(RecordFailure)
    /// Whether its keys follow from Unicode's data, which may change.
    static var followsUnicode: Bool { get }
    /// The ID that a record's key stands for; throws where the kind cannot be an ID, or keeps it in the record.
    static func read(key: UnsafeRawBufferPointer) throws(RecordFailure) -> Self

    /// Whether people expect it among numbers.
    static var isNumber: Bool { get }
    /// Reads what people write, `printed` among it.
    static func parse(_ text: String) throws(ScalarMismatch) -> Self
    var printed: String { get }
    /// As `JSONEncoder` writes the field; numbers that are not finite, and dates, as `printed`.
    var printedJSON: ScalarJSON { get }
}

/// What was expected in place of a text.
struct ScalarMismatch: Error {
    let expected: String
}

/// A printed value in JSON's terms.
package enum ScalarJSON: Sendable {
    case bool(Bool)
    /// Digits as they are to stand.
    case number(String)
    case string(String)
}

extension ScalarCodec {
    static func value(stored bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> StoredValue {
        try load(bytes).storedValue
    }

    @inline(__always)
    static func validate(stored bytes: UnsafeRawBufferPointer) throws(RecordFailure) { _ = try load(bytes) }

    static var followsUnicode: Bool { false }

    static func read(key: UnsafeRawBufferPointer) throws(RecordFailure) -> Self { throw .invalidValue }

    static var isNumber: Bool { false }

    var printedJSON: ScalarJSON { .string(printed) }
}

extension FieldType.Scalar {
    /// Kinds are told apart in this extension and nowhere else.
    var codec: any ScalarCodec.Type {
        switch self {
        case .bool: Bool.self
        case .int8: Int8.self
        case .int16: Int16.self
        case .int32: Int32.self
        case .int64: Int64.self
        case .uint8: UInt8.self
        case .uint16: UInt16.self
        case .uint32: UInt32.self
        case .uint64: UInt64.self
        case .float: Float.self
        case .double: Double.self
        case .date: Date.self
        case .uuid: UUID.self
        case .string: String.self
        case .data: Data.self
        }
    }

    // What runs for every row is written out: a call through `codec` takes 20 ns more of a scan's 60, for what it hides from
    // the optimiser.

    /// `ScalarCodec.order`.
    @inline(__always)
    func order(stored bytes: UnsafeRawBufferPointer, _ value: StoredValue) throws(RecordFailure) -> StoredOrder {
        switch self {
        case .bool: try Bool.order(stored: bytes, value)
        case .int8: try Int8.order(stored: bytes, value)
        case .int16: try Int16.order(stored: bytes, value)
        case .int32: try Int32.order(stored: bytes, value)
        case .int64: try Int64.order(stored: bytes, value)
        case .uint8: try UInt8.order(stored: bytes, value)
        case .uint16: try UInt16.order(stored: bytes, value)
        case .uint32: try UInt32.order(stored: bytes, value)
        case .uint64: try UInt64.order(stored: bytes, value)
        case .float: try Float.order(stored: bytes, value)
        case .double: try Double.order(stored: bytes, value)
        case .date: try Date.order(stored: bytes, value)
        case .uuid: try UUID.order(stored: bytes, value)
        case .string: try String.order(stored: bytes, value)
        case .data: try Data.order(stored: bytes, value)
        }
    }

    /// `ScalarCodec.validate`.
    @inline(__always)
    func validate(stored bytes: UnsafeRawBufferPointer) throws(RecordFailure) {
        switch self {
        case .bool: try Bool.validate(stored: bytes)
        case .int8: try Int8.validate(stored: bytes)
        case .int16: try Int16.validate(stored: bytes)
        case .int32: try Int32.validate(stored: bytes)
        case .int64: try Int64.validate(stored: bytes)
        case .uint8: try UInt8.validate(stored: bytes)
        case .uint16: try UInt16.validate(stored: bytes)
        case .uint32: try UInt32.validate(stored: bytes)
        case .uint64: try UInt64.validate(stored: bytes)
        case .float: try Float.validate(stored: bytes)
        case .double: try Double.validate(stored: bytes)
        case .date: try Date.validate(stored: bytes)
        case .uuid: try UUID.validate(stored: bytes)
        case .string: try String.validate(stored: bytes)
        case .data: try Data.validate(stored: bytes)
        }
    }

    /// `ScalarCodec.appendKey`.
    @inline(__always)
    fileprivate func appendKey(stored bytes: UnsafeRawBufferPointer, to key: inout KeyBytes, limit: Int) -> Bool {
        switch self {
        case .bool: Bool.appendKey(stored: bytes, to: &key, limit: limit)
        case .int8: Int8.appendKey(stored: bytes, to: &key, limit: limit)
        case .int16: Int16.appendKey(stored: bytes, to: &key, limit: limit)
        case .int32: Int32.appendKey(stored: bytes, to: &key, limit: limit)
        case .int64: Int64.appendKey(stored: bytes, to: &key, limit: limit)
        case .uint8: UInt8.appendKey(stored: bytes, to: &key, limit: limit)
        case .uint16: UInt16.appendKey(stored: bytes, to: &key, limit: limit)
        case .uint32: UInt32.appendKey(stored: bytes, to: &key, limit: limit)
        case .uint64: UInt64.appendKey(stored: bytes, to: &key, limit: limit)
        case .float: Float.appendKey(stored: bytes, to: &key, limit: limit)
        case .double: Double.appendKey(stored: bytes, to: &key, limit: limit)
        case .date: Date.appendKey(stored: bytes, to: &key, limit: limit)
        case .uuid: UUID.appendKey(stored: bytes, to: &key, limit: limit)
        case .string: String.appendKey(stored: bytes, to: &key, limit: limit)
        case .data: Data.appendKey(stored: bytes, to: &key, limit: limit)
        }
    }
}

extension FieldType {
    /// Bytes in a record; 0 when the length varies.
    var storedWidth: Int { scalar?.codec.storedWidth ?? 0 }
}

extension KeyBytes {
    /// A scalar as it stands in a record. `raw` has the scalar's stored width. Returns whether the key is exact.
    @discardableResult
    mutating func append(stored raw: UnsafeRawBufferPointer, _ scalar: FieldType.Scalar, limit: Int) -> Bool {
        scalar.appendKey(stored: raw, to: &self, limit: limit)
    }
}
