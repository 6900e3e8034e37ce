// SPDX-License-Identifier: Apache-2.0

import Foundation

@_documentation(visibility: internal)
extension UUID: FieldValue {
    public static var fieldType: FieldType { .scalar(.uuid) }
    @inlinable public static var storedWidth: Int { 16 }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) {
        withUnsafeBytes(of: uuid) { bytes.copyMemory(from: $0.baseAddress.unsafelyUnwrapped, byteCount: 16) }
    }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> UUID {
        guard bytes.count == 16 else { throw .truncated }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    public var storedValue: StoredValue { withUnsafeBytes(of: uuid) { .uuid(Array($0)) } }
}

extension UUID: ScalarCodec {
    static var keyWidth: Int { 16 }

    @inline(__always)
    static func order(stored bytes: UnsafeRawBufferPointer, _ value: StoredValue) throws(RecordFailure) -> StoredOrder {
        guard case .uuid(let value) = value else { return .unordered }
        return value.withUnsafeBytes { .of(bytes, $0) }
    }

    static func appendKey(stored bytes: UnsafeRawBufferPointer, to key: inout KeyBytes, limit: Int) -> Bool {
        key.append(bytes)
        return true
    }

    static func read(key: UnsafeRawBufferPointer) throws(RecordFailure) -> UUID { try load(key: key) }

    static func parse(_ text: String) throws(ScalarMismatch) -> UUID {
        guard let id = UUID(uuidString: text) else {
            throw ScalarMismatch(expected: "a UUID such as E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        }
        return id
    }

    var printed: String { uuidString }
}
