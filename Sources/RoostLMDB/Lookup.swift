// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB

/// What a look-up needs of its transaction.
package struct Lookup {
    let handle: OpaquePointer
    let tally: Tally
    let locations: LocationCache?
    let pages: UnsafeMutablePointer<PageTrees>?
    let snapshot: Int
    /// The transaction, where it is a write. Not counted: see `Transaction.lookup`.
    unowned(unsafe) let writer: Transaction?

    /// Sets `values[i]` to the value of `keys[i]`, or to an empty buffer without a start where there is none. The descents
    /// of a group take turns, so that the memory's delays overlap: about a third of as many single look-ups. What the cache of
    /// locations knows makes none. No copy; the processor begins to load the values' bytes.
    package func get(
        _ database: Database, _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>,
        _ values: UnsafeMutablePointer<UnsafeRawBufferPointer>
    ) throws(LMDBError) {
        guard let tree = try pages?.pointee.tree(database, handle, snapshot: snapshot) else {
            for index in keys.indices {
                (values + index).initialize(
                    to: try get(database, keys[index]) ?? UnsafeRawBufferPointer(start: nil, count: 0))
            }
            return
        }
        var start = 0
        while start < keys.count {
            let end = min(start + PageTree.groupSize, keys.count)
            let group = UnsafeBufferPointer(rebasing: keys[start..<end])
            let found = try find(tree, database, group, values + start)
            var bytes = 0
            for index in start..<end {
                Self.prefetch(values[index])
                bytes &+= values[index].count
            }
            try tally.add(database.role, found, of: end - start, bytes: bytes)
            start = end
        }
    }

    /// At most `PageTree.groupSize` keys: the cache is asked for each, and only the rest descends. Returns how many were found.
    private func find(
        _ tree: PageTree, _ database: Database, _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>,
        _ values: UnsafeMutablePointer<UnsafeRawBufferPointer>
    ) throws(LMDBError) -> Int {
        guard let locations else { return try tree.find(keys, values) }
        // A bit for each key that descends, and for each of them that the cache serves.
        var descending: UInt32 = 0
        var served: UInt32 = 0
        for index in keys.indices {
            let bit = UInt32(1) << UInt32(index)
            if let place = locations.place(keys[index], database: database.handle, snapshot: snapshot) {
                if let known = locations.find(place) {
                    (values + index).initialize(to: known)
                    continue
                }
                served |= bit
            }
            descending |= bit
        }
        let missing = descending.nonzeroBitCount
        if missing == 0 { return keys.count }
        let found: Int
        if missing == keys.count {
            found = try tree.find(keys, values)
        } else {
            found = try find(tree, keys, values, only: descending) + keys.count - missing
        }
        forEachBit(of: served) { _, index in
            if values[index].baseAddress != nil,
                let place = locations.place(keys[index], database: database.handle, snapshot: snapshot)
            {
                locations.add(values[index], at: place)
            }
        }
        return found
    }

    /// Looks up the keys whose bits are set, and leaves the other values as they are.
    private func find(
        _ tree: PageTree, _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>,
        _ values: UnsafeMutablePointer<UnsafeRawBufferPointer>, only bits: UInt32
    ) throws(LMDBError) -> Int {
        let result = withUnsafeTemporaryAllocation(
            of: UnsafeRawBufferPointer.self, capacity: 2 * bits.nonzeroBitCount
        ) { memory -> Result<Int, LMDBError> in
            guard let some = memory.baseAddress else { return .success(0) }
            let count = memory.count / 2
            forEachBit(of: bits) { number, index in (some + number).initialize(to: keys[index]) }
            do throws(LMDBError) {
                let found = try tree.find(UnsafeBufferPointer(start: some, count: count), some + count)
                forEachBit(of: bits) { number, index in (values + index).initialize(to: some[count + number]) }
                return .success(found)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    @inline(__always)
    private static func prefetch(_ value: UnsafeRawBufferPointer) {
        guard let start = value.baseAddress else { return }
        var offset = 0
        while offset < min(value.count, bytesAhead) {
            roost_prefetch(start + offset)
            offset += lineSize
        }
    }

    /// The value of `key`, or nil. At most one B-tree descent, no copy; the processor begins to load the value's bytes.
    package func get(
        _ database: Database, _ key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard let value = try find(database, key) else { return nil }
        Self.prefetch(value)
        return value
    }

    private static var lineSize: Int { 64 }
    private static var bytesAhead: Int { 512 }

    @inline(__always)
    private func find(
        _ database: Database, _ key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard let locations, let place = locations.place(key, database: database.handle, snapshot: snapshot) else {
            return try descend(database, key)
        }
        if let known = locations.find(place) {
            try tally.add(database.role, bytes: known.count)
            return known
        }
        let value = try descend(database, key)
        if let value { locations.add(value, at: place) }
        return value
    }

    @inline(__always)
    private func descend(
        _ database: Database, _ key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        if let tree = try pages?.pointee.tree(database, handle, snapshot: snapshot) {
            guard let value = try tree.find(key) else {
                try tally.addMiss()
                return nil
            }
            try tally.add(database.role, bytes: value.count)
            return value
        }
        try writer?.settle(database)
        var keyValue = MDB_val(key)
        var value = MDB_val()
        let code = mdb_get(handle, database.handle, &keyValue, &value)
        if code == MDB_SUCCESS {
            try tally.add(database.role, bytes: value.mv_size)
            return value.buffer
        }
        if code == MDB_NOTFOUND {
            try tally.addMiss()
            return nil
        }
        throw failure(code, "mdb_get")
    }
}

/// Calls `body` with each set bit's number among the set ones, and its index.
@inline(__always)
private func forEachBit(of bits: UInt32, _ body: (_ number: Int, _ index: Int) -> Void) {
    var bits = bits
    var number = 0
    while bits != 0 {
        body(number, bits.trailingZeroBitCount)
        bits &= bits &- 1
        number &+= 1
    }
}
