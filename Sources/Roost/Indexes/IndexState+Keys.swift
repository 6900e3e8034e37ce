// SPDX-License-Identifier: Apache-2.0

extension IndexState {
    /// Appends the entry's key for a record: the components, then the object's ID. Returns whether the key is exact.
    func appendKey(of view: RecordView, to key: inout KeyBytes) throws(RecordFailure) -> Bool {
        var isExact = true
        for component in components {
            if component.isOptional {
                if view.isNull(component.position) {
                    key.append(UInt8(0))
                    continue
                }
                key.append(UInt8(1))
            }
            let bytes = try view.bytes(component.position)
            if case .key = view.layout.fields[component.position].location {
                key.append(bytes)
            } else if !key.append(stored: bytes, component.scalar, limit: textLimit) {
                isExact = false
            }
        }
        key.append(view.key)
        return isExact
    }

    /// Calls `body` with the key of each element's entry, and whether it is exact.
    func forEachElementKey(
        of view: RecordView, using key: inout KeyBytes, _ body: ([UInt8], Bool) -> Void
    ) throws(RecordFailure) {
        let component = components[0]
        if view.isNull(component.position) { return }
        let type = view.layout.fields[component.position].type
        let bytes = try view.bytes(component.position)
        var scratch = key
        try RecordView.forEachElement(bytes, type) { (element, _) throws(RecordFailure) in
            scratch.removeAll()
            var isExact = true
            if component.isOptional { scratch.append(element == nil ? UInt8(0) : UInt8(1)) }
            if let element { isExact = scratch.append(stored: element, component.scalar, limit: textLimit) }
            scratch.append(view.key)
            body(scratch.bytes, isExact)
        }
        key = scratch
    }

    /// Appends one component's value as it stands in a key. Returns whether it is exact.
    func append(_ value: StoredValue, component: Int, to key: inout KeyBytes) -> Bool {
        if components[component].isOptional { key.append(value == .null ? UInt8(0) : UInt8(1)) }
        return value == .null ? true : key.append(value, limit: textLimit)
    }

    /// The object's ID at the end of an entry's key.
    ///
    /// Integer and UUID IDs have one length; a text's begins after the components, which must be walked.
    func id(inEntry key: UnsafeRawBufferPointer, width: Int) -> UnsafeRawBufferPointer? {
        if width > 0 {
            return key.count >= width ? UnsafeRawBufferPointer(rebasing: key[(key.count - width)...]) : nil
        }
        var offset = 0
        for component in components {
            if component.isOptional {
                guard offset < key.count else { return nil }
                offset += 1
                if key[offset - 1] == 0 { continue }
            }
            if component.scalar.keyWidth > 0 {
                offset += component.scalar.keyWidth
            } else {
                // An exact value ends at its first 00; a cut one has `textLimit` bytes, 01 and eight bytes of hash.
                let start = offset
                while offset < key.count, key[offset] != 0, offset - start < textLimit { offset += 1 }
                guard offset < key.count else { return nil }
                offset += key[offset] == 0 ? 1 : 9
            }
        }
        return offset < key.count ? UnsafeRawBufferPointer(rebasing: key[offset...]) : nil
    }
}
