// SPDX-License-Identifier: Apache-2.0

extension StoredIndex {
    /// Appends the keys of the record's entries.
    func appendKeys(of view: RecordView, to keys: inout EntryKeys) throws(RecordFailure) {
        switch kind {
        case .values: try keys.append { (key) throws(RecordFailure) in try appendKey(of: view, to: &key) }
        case .elements: try appendElementKeys(of: view, to: &keys)
        }
    }

    /// Appends the entry's key for a record: the components, then the object's ID. Returns whether the key is exact.
    private func appendKey(of view: RecordView, to key: inout KeyBytes) throws(RecordFailure) -> Bool {
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

    /// Appends the key of each element's entry, or of those in `range`; equal elements have equal keys.
    func appendElementKeys(
        of view: RecordView, in range: Range<Int>? = nil, to keys: inout EntryKeys
    ) throws(RecordFailure) {
        let component = components[0]
        if view.isNull(component.position) { return }
        let type = view.layout.fields[component.position].type
        let bytes = try view.bytes(component.position)
        var made = EntryKeys()
        swap(&made, &keys)
        defer { swap(&made, &keys) }
        try RecordView.forEachElement(bytes, type, in: range) { (element, _) throws(RecordFailure) in
            try made.append { (key) throws(RecordFailure) in
                var isExact = true
                if component.isOptional { key.append(element == nil ? UInt8(0) : UInt8(1)) }
                if let element { isExact = key.append(stored: element, component.scalar, limit: textLimit) }
                key.append(view.key)
                return isExact
            }
        }
    }

    /// The elements that `after` has beyond those of `before`, whose entries all stay. Nil where that is not all that
    /// happened: whether an element that went is among the others still is seen from the keys alone.
    func addedElements(from before: RecordView, to after: RecordView) -> Range<Int>? {
        let position = components[0].position
        guard kind == .elements, !before.isNull(position), !after.isNull(position),
            let element = after.layout.fields[position].type.element,
            let old = try? StoredElements(before.bytes(position), of: element),
            let new = try? StoredElements(after.bytes(position), of: element)
        else { return nil }
        return (try? new.added(since: old)) ?? nil
    }

    /// Appends one component's value as it stands in a key. Returns whether it is exact.
    func append(_ value: StoredValue, component: Int, to key: inout KeyBytes) -> Bool {
        if components[component].isOptional { key.append(value == .null ? UInt8(0) : UInt8(1)) }
        return value == .null ? true : key.append(value, limit: textLimit)
    }

    /// The object's ID at the end of an entry's key.
    func id(inEntry key: UnsafeRawBufferPointer, width: Int) -> UnsafeRawBufferPointer? {
        if width > 0 {
            return key.count >= width ? UnsafeRawBufferPointer(rebasing: key[(key.count - width)...]) : nil
        }
        return place(inEntry: key, width: width).map { UnsafeRawBufferPointer(rebasing: key[$0.idStart...]) }
    }

    /// Where the object's ID begins in an entry's key, and whether the values before it are exact. Nil for what is no entry.
    ///
    /// Integer and UUID IDs have one length, `width`; a text's begins after the components, which must be walked.
    func place(inEntry key: UnsafeRawBufferPointer, width: Int) -> (idStart: Int, isExact: Bool)? {
        var offset = 0
        var isExact = true
        for component in components {
            if component.isOptional {
                guard offset < key.count else { return nil }
                offset += 1
                if key[offset - 1] == 0 { continue }
            }
            if component.keyWidth > 0 {
                offset += component.keyWidth
            } else {
                // An exact value ends at its first 00; a cut one has `textLimit` bytes, 01 and eight bytes of hash.
                let start = offset
                while offset < key.count, key[offset] != 0, offset - start < textLimit { offset += 1 }
                guard offset < key.count else { return nil }
                if key[offset] != 0 { isExact = false }
                offset += key[offset] == 0 ? 1 : 9
            }
        }
        guard offset < key.count, width == 0 || key.count - offset == width else { return nil }
        return (offset, isExact)
    }
}
