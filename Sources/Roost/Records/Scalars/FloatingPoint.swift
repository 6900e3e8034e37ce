// SPDX-License-Identifier: Apache-2.0

@_documentation(visibility: internal)
extension Double: FieldValue {
    public static var fieldType: FieldType { .scalar(.double) }
    @inlinable public static var storedWidth: Int { 8 }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) { bitPattern.store(to: bytes) }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Double {
        Double(bitPattern: try UInt64.load(bytes))
    }

    public var storedValue: StoredValue { .double(self) }
}

@_documentation(visibility: internal)
extension Float: FieldValue {
    public static var fieldType: FieldType { .scalar(.float) }
    @inlinable public static var storedWidth: Int { 4 }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) { bitPattern.store(to: bytes) }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Float {
        Float(bitPattern: try UInt32.load(bytes))
    }

    public var storedValue: StoredValue { .double(Double(self)) }
}

/// A number that is kept as an IEEE 754 value, and whose key is that of the Double of the same value.
protocol FloatingPointScalar: ScalarCodec, BinaryFloatingPoint, LosslessStringConvertible {}

extension FloatingPointScalar {
    static var keyWidth: Int { 8 }

    static var isNumber: Bool { true }

    /// Whatever Swift reads; but a number too large for the type is not infinity.
    static func parse(_ text: String) throws(ScalarMismatch) -> Self {
        guard let value = Self(text) else { throw ScalarMismatch(expected: "a number, inf, -inf or nan") }
        guard value.isFinite || text.contains(where: { "nN".contains($0) }) else {
            throw ScalarMismatch(expected: "a number up to \(greatestFiniteMagnitude), inf, -inf or nan")
        }
        return value
    }

    // There are many NaNs, and none equals anything: one spelling is enough.
    var printed: String { isNaN ? "nan" : description }
    var printedJSON: ScalarJSON { isFinite ? .number(printed) : .string(printed) }
}

extension Double: FloatingPointScalar {
    @inline(__always)
    static func order(stored bytes: UnsafeRawBufferPointer, _ value: StoredValue) throws(RecordFailure) -> StoredOrder {
        guard case .double(let value) = value else { return .unordered }
        return .of(try load(bytes), value)
    }

    static func appendKey(stored bytes: UnsafeRawBufferPointer, to key: inout KeyBytes, limit: Int) -> Bool {
        key.append(double: Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))))
        return true
    }
}

extension Float: FloatingPointScalar {
    @inline(__always)
    static func order(stored bytes: UnsafeRawBufferPointer, _ value: StoredValue) throws(RecordFailure) -> StoredOrder {
        guard case .double(let value) = value else { return .unordered }
        return .of(Double(try load(bytes)), value)
    }

    static func appendKey(stored bytes: UnsafeRawBufferPointer, to key: inout KeyBytes, limit: Int) -> Bool {
        key.append(double: Double(Float(bitPattern: UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))))
        return true
    }
}
