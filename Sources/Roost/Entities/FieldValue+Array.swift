// SPDX-License-Identifier: Apache-2.0

/// Elements of a fixed width follow one another. Others are preceded by their count and end offsets (UInt32 each,
/// counted from the first element's first byte); an optional element has a byte 0 (missing) or 1 before its bytes.
@_documentation(visibility: internal)
extension Array: FieldValue where Element: FieldValue {
    public static var fieldType: FieldType { .array(Element.fieldType) }
    @inlinable public static var storedWidth: Int { 0 }
    @inlinable public static var referencedEntityName: String? { Element.referencedEntityName }

    @inlinable
    static var hasFixedElements: Bool { Element.storedWidth > 0 && !Element.isNullable }

    @inlinable
    public var storedByteCount: Int {
        if Self.hasFixedElements { return count * Element.storedWidth }
        var total = 4 + 4 * count + (Element.isNullable ? count : 0)
        for element in self where !element.isNull { total += element.storedByteCount }
        return total
    }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) {
        if Self.hasFixedElements {
            for (index, element) in enumerated() { element.store(to: bytes + index * Element.storedWidth) }
            return
        }
        UInt32(count).store(to: bytes)
        let start = 4 + 4 * count
        var end = 0
        for (index, element) in enumerated() {
            if Element.isNullable {
                bytes.storeBytes(of: element.isNull ? 0 : 1, toByteOffset: start + end, as: UInt8.self)
                end += 1
            }
            if !element.isNull {
                element.store(to: bytes + start + end)
                end += element.storedByteCount
            }
            UInt32(end).store(to: bytes + 4 + 4 * index)
        }
    }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> [Element] {
        var result: [Element] = []
        if hasFixedElements {
            let width = Element.storedWidth
            guard bytes.count % width == 0 else { throw .truncated }
            result.reserveCapacity(bytes.count / width)
            for offset in stride(from: 0, to: bytes.count, by: width) {
                result.append(try Element.load(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + width])))
            }
            return result
        }
        let list = try StoredList(bytes)
        result.reserveCapacity(list.count)
        for index in 0..<list.count {
            let element = try list.element(index)
            if Element.isNullable {
                guard let tag = element.first, tag <= 1 else { throw .invalidValue }
                if tag == 0, let null = Element.null {
                    result.append(null)
                } else {
                    result.append(try Element.load(UnsafeRawBufferPointer(rebasing: element[1...])))
                }
            } else {
                result.append(try Element.load(element))
            }
        }
        return result
    }

    /// An array is not a value that an index holds as a whole: see `Index(each:)`.
    public var storedValue: StoredValue { .list(map(\.storedValue)) }
}

/// The stored form of an array whose elements vary in length. Any bytes can be looked at.
@usableFromInline
struct StoredList {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline let count: Int

    @inlinable
    init(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) {
        guard bytes.count >= 4 else { throw .truncated }
        let count = Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
        guard count <= (bytes.count - 4) / 4 else { throw .truncated }
        self.bytes = bytes
        self.count = count
    }

    @inlinable
    func element(_ index: Int) throws(RecordFailure) -> UnsafeRawBufferPointer {
        let base = 4 + 4 * count
        let start = index == 0 ? 0 : end(index - 1)
        let end = end(index)
        guard start <= end, base + end <= bytes.count else { throw .badOffsets }
        return UnsafeRawBufferPointer(rebasing: bytes[base + start..<base + end])
    }

    @inlinable
    func end(_ index: Int) -> Int {
        Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 + 4 * index, as: UInt32.self)))
    }
}
