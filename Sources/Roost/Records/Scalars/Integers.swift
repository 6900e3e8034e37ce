// SPDX-License-Identifier: Apache-2.0

/// Integers are little-endian in a record.
@_documentation(visibility: internal)
extension FieldValue where Self: FixedWidthInteger {
    @inlinable public static var storedWidth: Int { MemoryLayout<Self>.size }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: littleEndian, as: Self.self)
    }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Self {
        guard bytes.count == MemoryLayout<Self>.size, let base = bytes.baseAddress else { throw .truncated }
        return unsafeLoad(base)
    }

    @inlinable
    static func unsafeLoad(_ base: UnsafeRawPointer) -> Self {
        // The caller has checked the length; integers are trivial, so any alignment can be loaded.
        var value: Self = 0
        withUnsafeMutableBytes(of: &value) { $0.copyMemory(from: UnsafeRawBufferPointer(start: base, count: $0.count)) }
        return Self(littleEndian: value)
    }

    public var storedValue: StoredValue {
        Self.isSigned ? .int(Int64(truncatingIfNeeded: self)) : .uint(UInt64(truncatingIfNeeded: self))
    }
}

@_documentation(visibility: internal)
extension Int: FieldValue { public static var fieldType: FieldType { .scalar(.int64) } }
@_documentation(visibility: internal)
extension Int8: FieldValue { public static var fieldType: FieldType { .scalar(.int8) } }
@_documentation(visibility: internal)
extension Int16: FieldValue { public static var fieldType: FieldType { .scalar(.int16) } }
@_documentation(visibility: internal)
extension Int32: FieldValue { public static var fieldType: FieldType { .scalar(.int32) } }
@_documentation(visibility: internal)
extension Int64: FieldValue { public static var fieldType: FieldType { .scalar(.int64) } }
@_documentation(visibility: internal)
extension UInt: FieldValue { public static var fieldType: FieldType { .scalar(.uint64) } }
@_documentation(visibility: internal)
extension UInt8: FieldValue { public static var fieldType: FieldType { .scalar(.uint8) } }
@_documentation(visibility: internal)
extension UInt16: FieldValue { public static var fieldType: FieldType { .scalar(.uint16) } }
@_documentation(visibility: internal)
extension UInt32: FieldValue { public static var fieldType: FieldType { .scalar(.uint32) } }
@_documentation(visibility: internal)
extension UInt64: FieldValue { public static var fieldType: FieldType { .scalar(.uint64) } }

extension ScalarCodec where Self: FixedWidthInteger & EntityID {
    static var keyWidth: Int { 8 }

    static func value(stored bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> StoredValue {
        try load(bytes).storedValue
    }

    @inline(__always)
    static func order(stored bytes: UnsafeRawBufferPointer, _ value: StoredValue) throws(RecordFailure) -> StoredOrder {
        let stored = try load(bytes)
        switch value {
        case .int(let value) where isSigned: return .of(Int64(truncatingIfNeeded: stored), value)
        case .uint(let value) where !isSigned: return .of(UInt64(truncatingIfNeeded: stored), value)
        default: return .unordered
        }
    }

    static func appendKey(stored bytes: UnsafeRawBufferPointer, to key: inout KeyBytes, limit: Int) -> Bool {
        let value = Self(littleEndian: bytes.loadUnaligned(as: Self.self))
        if isSigned {
            key.append(int: Int64(truncatingIfNeeded: value))
        } else {
            key.append(uint: UInt64(truncatingIfNeeded: value))
        }
        return true
    }

    static func read(key: UnsafeRawBufferPointer) throws(RecordFailure) -> Self { try load(key: key) }

    static var isNumber: Bool { true }

    static func parse(_ text: String) throws(ScalarMismatch) -> Self {
        guard let value = Self(text) else { throw ScalarMismatch(expected: "an integer from \(min) to \(max)") }
        return value
    }

    var printed: String { "\(self)" }
    var printedJSON: ScalarJSON { .number(printed) }
}

extension Int8: ScalarCodec {}
extension Int16: ScalarCodec {}
extension Int32: ScalarCodec {}
extension Int64: ScalarCodec {}
extension UInt8: ScalarCodec {}
extension UInt16: ScalarCodec {}
extension UInt32: ScalarCodec {}
extension UInt64: ScalarCodec {}
