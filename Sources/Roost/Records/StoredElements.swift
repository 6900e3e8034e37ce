// SPDX-License-Identifier: Apache-2.0

/// The elements of a stored array as they lie there; an optional one with the byte that says whether it is missing. Any
/// bytes can be looked at.
struct StoredElements {
    let count: Int
    private let bytes: UnsafeRawBufferPointer
    /// Bytes of an element where all have as many; 0 where `list` tells.
    private let width: Int
    private let list: StoredList?

    /// `element` is the elements' type.
    init(_ bytes: UnsafeRawBufferPointer, of element: FieldType) throws(RecordFailure) {
        self.bytes = bytes
        width = element.isOptional ? 0 : element.storedWidth
        if width > 0 {
            guard bytes.count % width == 0 else { throw .truncated }
            list = nil
            count = bytes.count / width
        } else {
            let list = try StoredList(bytes)
            self.list = list
            count = list.count
        }
    }

    @inline(__always)
    func raw(_ index: Int) throws(RecordFailure) -> UnsafeRawBufferPointer {
        if let list { return try list.element(index) }
        return UnsafeRawBufferPointer(rebasing: bytes[index * width..<(index + 1) * width])
    }

    /// Which elements were added, where these are those of `old` with one run of others somewhere among them; else nil.
    func added(since old: StoredElements) throws(RecordFailure) -> Range<Int>? {
        guard old.count <= count else { return nil }
        var front = 0
        while front < old.count, try isSame(front, old, front) { front += 1 }
        let added = front..<front + count - old.count
        for index in front..<old.count where try !isSame(index + added.count, old, index) { return nil }
        return added
    }

    @inline(__always)
    private func isSame(_ index: Int, _ old: StoredElements, _ oldIndex: Int) throws(RecordFailure) -> Bool {
        StoredOrder.of(try raw(index), try old.raw(oldIndex)) == .equal
    }
}

extension RecordView {
    /// Calls `body` with the bytes of each element, or of those in `range`, nil for a missing one, and the element's
    /// unwrapped type.
    static func forEachElement(
        _ bytes: UnsafeRawBufferPointer, _ type: FieldType, in range: Range<Int>? = nil,
        _ body: (UnsafeRawBufferPointer?, FieldType) throws(RecordFailure) -> Void
    ) throws(RecordFailure) {
        guard let element = type.element else { return }
        let unwrapped = element.unwrapped
        let width = element.storedWidth
        let elements = try StoredElements(bytes, of: element)
        for index in range ?? 0..<elements.count {
            let raw = try elements.raw(index)
            guard element.isOptional else {
                try body(raw, unwrapped)
                continue
            }
            guard let tag = raw.first, tag <= 1 else { throw .invalidValue }
            // Keys and comparisons load the element as it is.
            guard tag == 0 || width == 0 || raw.count == 1 + width else { throw .truncated }
            try body(tag == 0 ? nil : UnsafeRawBufferPointer(rebasing: raw[1...]), unwrapped)
        }
    }
}
