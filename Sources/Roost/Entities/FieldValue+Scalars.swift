// SPDX-License-Identifier: Apache-2.0

import Foundation

// MARK: Numbers

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

/// Seconds since the reference date (2001-01-01T00:00:00Z), as the Double that Foundation keeps: nothing is rounded.
@_documentation(visibility: internal)
extension Date: FieldValue {
    public static var fieldType: FieldType { .scalar(.date) }
    @inlinable public static var storedWidth: Int { 8 }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) {
        timeIntervalSinceReferenceDate.bitPattern.store(to: bytes)
    }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Date {
        Date(timeIntervalSinceReferenceDate: try Double.load(bytes))
    }

    public var storedValue: StoredValue { .double(timeIntervalSinceReferenceDate) }
}

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

// MARK: Text and data

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

@_documentation(visibility: internal)
extension Data: FieldValue {
    public static var fieldType: FieldType { .scalar(.data) }
    @inlinable public static var storedWidth: Int { 0 }
    @inlinable public var storedByteCount: Int { count }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) {
        withUnsafeBytes { source in
            if let start = source.baseAddress { bytes.copyMemory(from: start, byteCount: source.count) }
        }
    }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Data { Data(bytes) }

    public var storedValue: StoredValue { .bytes(Array(self)) }
}
