// SPDX-License-Identifier: Apache-2.0

/// Text keeps its spelling in a record; predicates, keys and sorts compare its NFC form.
@_documentation(visibility: internal)
extension String: FieldValue {
    public static var fieldType: FieldType { .scalar(.string) }
    @inlinable public static var storedWidth: Int { 0 }
    @inlinable public var storedByteCount: Int { utf8.count }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) {
        var copy = self
        copy.withUTF8 { utf8 in
            if let source = utf8.baseAddress { bytes.copyMemory(from: source, byteCount: utf8.count) }
        }
    }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> String {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return "" }
        // Neither way validates as such, both repair: what had to be repaired does not have the same bytes, and ASCII never
        // has to be. Text that fits into the String itself takes half as long by the first way; `String(validating:)`
        // takes three times as long.
        let text: String
        let isASCII: Bool
        if bytes.count <= smallCapacity {
            (text, isASCII) = small(base, bytes.count)
        } else {
            text = String(decoding: bytes, as: UTF8.self)
            isASCII = self.isASCII(base, bytes.count)
        }
        if !isASCII { try verify(text, is: bytes) }
        return text
    }

    /// Bytes of UTF-8 that a String holds without memory of its own, on 64-bit systems.
    @inlinable static var smallCapacity: Int { 15 }

    /// 1 to 15 bytes, copied and looked at in two words that overlap.
    @inlinable
    @inline(__always)
    static func small(_ base: UnsafeRawPointer, _ count: Int) -> (String, isASCII: Bool) {
        @inline(__always)
        func copy<Word: FixedWidthInteger>(_: Word.Type) -> (String, bits: UInt64) {
            let last = count - MemoryLayout<Word>.size
            let (head, tail) = (
                base.loadUnaligned(as: Word.self), base.loadUnaligned(fromByteOffset: last, as: Word.self)
            )
            let text = String(unsafeUninitializedCapacity: count) { buffer in
                guard let start = UnsafeMutableRawPointer(buffer.baseAddress) else { return 0 }
                start.storeBytes(of: head, as: Word.self)
                start.storeBytes(of: tail, toByteOffset: last, as: Word.self)
                return count
            }
            return (text, UInt64(truncatingIfNeeded: head | tail))
        }
        let (text, bits) =
            count >= 8
            ? copy(UInt64.self) : count >= 4 ? copy(UInt32.self) : count >= 2 ? copy(UInt16.self) : copy(UInt8.self)
        return (text, bits & 0x8080_8080_8080_8080 == 0)
    }

    /// At least 16 bytes, looked at sixteen at a time; the last sixteen overlap those before.
    @inlinable
    @inline(__always)
    static func isASCII(_ base: UnsafeRawPointer, _ count: Int) -> Bool {
        var bits = base.loadUnaligned(fromByteOffset: count &- 16, as: SIMD2<UInt64>.self)
        var offset = 0
        while offset < count &- 16 {
            bits |= base.loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self)
            offset &+= 16
        }
        return (bits.x | bits.y) & 0x8080_8080_8080_8080 == 0
    }

    @usableFromInline
    @inline(never)
    static func verify(_ text: String, is bytes: UnsafeRawBufferPointer) throws(RecordFailure) {
        var copy = text
        let isSame = copy.withUTF8 { StoredOrder.of(UnsafeRawBufferPointer($0), bytes) == .equal }
        if !isSame { throw .invalidText }
    }

    public var storedValue: StoredValue { .text(NormalizedText.bytes(of: self)) }
}

extension String: ScalarCodec {
    static var keyWidth: Int { 0 }

    @inline(__always)
    static func order(stored bytes: UnsafeRawBufferPointer, _ value: StoredValue) throws(RecordFailure) -> StoredOrder {
        guard case .text(let value) = value else { return .unordered }
        return NormalizedText.withNormalized(bytes) { text in value.withUnsafeBytes { .of(text, $0) } }
    }

    static func appendKey(stored bytes: UnsafeRawBufferPointer, to key: inout KeyBytes, limit: Int) -> Bool {
        NormalizedText.withNormalized(bytes) { key.append(escaping: $0, limit: limit) }
    }

    static func validate(stored bytes: UnsafeRawBufferPointer) throws(RecordFailure) {
        if bytes.contains(where: { $0 >= 0x80 }) { _ = try load(bytes) }
    }

    static var followsUnicode: Bool { true }

    static func parse(_ text: String) -> String { text }

    var printed: String { self }
}
