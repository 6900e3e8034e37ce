// SPDX-License-Identifier: Apache-2.0

@_documentation(visibility: internal)
extension Bool: FieldValue {
    public static var fieldType: FieldType { .scalar(.bool) }
    @inlinable public static var storedWidth: Int { 1 }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: self ? 1 : 0, as: UInt8.self)
    }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Bool {
        guard bytes.count == 1 else { throw .truncated }
        guard bytes[0] <= 1 else { throw .invalidValue }
        return bytes[0] == 1
    }

    public var storedValue: StoredValue { .bool(self) }
}

extension Bool: ScalarCodec {
    static var keyWidth: Int { 1 }

    @inline(__always)
    static func order(stored bytes: UnsafeRawBufferPointer, _ value: StoredValue) throws(RecordFailure) -> StoredOrder {
        guard case .bool(let value) = value else { return .unordered }
        return .of(try load(bytes) ? 1 : 0, value ? 1 : 0)
    }

    static func appendKey(stored bytes: UnsafeRawBufferPointer, to key: inout KeyBytes, limit: Int) -> Bool {
        key.append(bytes.loadUnaligned(as: UInt8.self))
        return true
    }

    static func parse(_ text: String) throws(ScalarMismatch) -> Bool {
        guard let value = Bool(text) else { throw ScalarMismatch(expected: "true or false") }
        return value
    }

    var printed: String { self ? "true" : "false" }
    var printedJSON: ScalarJSON { .bool(self) }
}
