// SPDX-License-Identifier: Apache-2.0

/// The key is that of a text whose whole form it holds; the record keeps the spelling.
@_documentation(visibility: internal)
extension String: EntityID {
    @inlinable public static var isKeptInRecord: Bool { true }

    public func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        var key = KeyBytes()
        key.appendText(self, limit: Int.max)
        guard key.count <= maximumIDKeyLength else { throw StoreError.idTooLong(self) }
        return try key.withUnsafeBytes(body)
    }

    public static func load(key: UnsafeRawBufferPointer) throws(RecordFailure) -> String {
        guard let bytes = KeyBytes.unescaped(key) else { throw .invalidValue }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidText }
        return text
    }
}
