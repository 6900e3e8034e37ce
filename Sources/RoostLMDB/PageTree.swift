// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// One database's B-tree in one snapshot, read from the mapped pages without LMDB: many look-ups at once, so that the
/// memory's delays overlap where `mdb_get` takes them one after the other.
///
/// The pages are those of LMDB's data version 1 on a 64-bit machine (`MDB_page`, `MDB_node`, `MDB_db` of mdb.c):
///
/// ```
/// page   number (8)   unused (2)   flags (2)   lower (2)   upper (2)   node offsets (2 each) … nodes, from upper on
/// node   size (2 + 2)   flags (2)   key size (2)   key   value; a branch's size and flags are the child's number
/// ```
///
/// Only for read transactions: a writer's dirty pages are not in the map (hazard 42). Whatever the pages say is checked
/// before it is used, so damaged ones are an error, never a trap or an endless descent.
///
/// A write has no such protection (hazard 27): LMDB dies of a page whose nodes lead out of it. To look at the pages on the
/// way to each key beforehand would be a descent more for every put and delete, which no note of the pages seen before
/// saves, as only the descent tells which they are; and it would not see the neighbours that LMDB merges a page with, nor
/// the list of free pages. Only a walk of the whole file tells.
struct PageTree {
    /// Where page 0 is mapped.
    let base: UnsafeRawPointer
    let pageSize: Int
    /// No page of the snapshot has this number or a greater one, and all below are within the file.
    let pageLimit: UInt64
    let root: UInt64
    /// 0 for an empty tree; the leaves stand at this level.
    let depth: Int

    /// How many descents take turns; a look-up notes them in a word of so many bits.
    static var groupSize: Int { 32 }

    static var headerSize: Int { 16 }
    static var nodeHeaderSize: Int { 8 }
    private static var branch: UInt16 { 0x01 }
    private static var leaf: UInt16 { 0x02 }
    private static var overflow: UInt16 { 0x04 }
    private static var bigData: UInt16 { 0x01 }
    static var lineSize: Int { 64 }

    // MARK: Many at once

    /// Sets `values[i]` to the value of `keys[i]`, or to an empty buffer without a start where there is none. At most
    /// `groupSize` keys. Returns how many were found.
    func find(
        _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ values: UnsafeMutablePointer<UnsafeRawBufferPointer>
    ) throws(LMDBError) -> Int {
        if depth == 0 {
            values.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: keys.count)
            return 0
        }
        var areWords = true
        for key in keys where key.count != 8 { areWords = false }
        return areWords ? try find(keys, values, words: true) : try find(keys, values, words: false)
    }

    private struct Descent {
        var page: UnsafeRawPointer
        /// The first node that is above the key lies between the two.
        var low: Int
        var high: Int
        /// Of a key of eight bytes, its value as a number.
        let word: UInt64
    }

    @inline(__always)
    private func find(
        _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ values: UnsafeMutablePointer<UnsafeRawBufferPointer>,
        words: Bool
    ) throws(LMDBError) -> Int {
        let start = try page(root, isLeaf: depth == 1)
        var failure: LMDBError?
        let found = withUnsafeTemporaryAllocation(of: Descent.self, capacity: keys.count) { buffer -> Int in
            do throws(LMDBError) {
                guard let descents = buffer.baseAddress else { return 0 }
                for index in 0..<keys.count {
                    (descents + index).initialize(
                        to: Descent(page: start, low: 0, high: 0, word: words ? Self.word(keys[index].baseAddress) : 0))
                }
                for level in 1...depth {
                    try search(descents, keys, isLeaf: level == depth, words: words)
                    if level == depth { break }
                    for index in 0..<keys.count {
                        descents[index].page = try child(of: descents[index].page, descents[index].low - 1)
                    }
                    for index in 0..<keys.count { try verify(descents[index].page, isLeaf: level + 1 == depth) }
                }
                var found = 0
                for index in 0..<keys.count {
                    let position = descents[index].low - 1
                    guard position >= 0,
                        let value = try value(descents[index].page, position, ifKeyIs: keys[index])
                    else {
                        values[index] = UnsafeRawBufferPointer(start: nil, count: 0)
                        continue
                    }
                    values[index] = value
                    found += 1
                }
                return found
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        return found
    }

    /// Takes each descent to the first node of its page that is above its key, one step of each in turn.
    @inline(__always)
    private func search(
        _ descents: UnsafeMutablePointer<Descent>, _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>, isLeaf: Bool,
        words: Bool
    ) throws(LMDBError) {
        for index in 0..<keys.count {
            let page = descents[index].page
            // The first key of a branch page stands for everything below the second.
            descents[index].low = isLeaf ? 0 : 1
            descents[index].high = Self.count(page)
            prefetchMiddle(descents[index])
        }
        var goesOn = true
        while goesOn {
            goesOn = false
            for index in 0..<keys.count {
                let descent = descents[index]
                if descent.low >= descent.high { continue }
                let middle = (descent.low &+ descent.high) >> 1
                let node = try node(descent.page, middle)
                let isAbove =
                    words && Self.keySize(node) == 8
                    ? Self.word(node + Self.nodeHeaderSize) > descent.word
                    : Self.compare(node, keys[index]) > 0
                if isAbove { descents[index].high = middle } else { descents[index].low = middle &+ 1 }
                if descents[index].low < descents[index].high {
                    goesOn = true
                    prefetchMiddle(descents[index])
                }
            }
        }
    }

    @inline(__always)
    private func prefetchMiddle(_ descent: Descent) {
        let middle = (descent.low &+ descent.high) >> 1
        // Any address will do, also that of a node which a check will refuse.
        roost_prefetch(descent.page + Self.offset(descent.page, middle))
    }

    // MARK: One

    /// The value of `key`, or nil.
    func find(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> UnsafeRawBufferPointer? {
        if depth == 0 { return nil }
        let word = key.count == 8 ? Self.word(key.baseAddress) : nil
        var number = root
        for level in 1...depth {
            let isLeaf = level == depth
            let page = try page(number, isLeaf: isLeaf)
            var (low, high) = (isLeaf ? 0 : 1, Self.count(page))
            while low < high {
                let middle = (low &+ high) >> 1
                let node = try node(page, middle)
                let isAbove: Bool
                if let word, Self.keySize(node) == 8 {
                    isAbove = Self.word(node + Self.nodeHeaderSize) > word
                } else {
                    isAbove = Self.compare(node, key) > 0
                }
                if isAbove { high = middle } else { low = middle &+ 1 }
            }
            if isLeaf { return low == 0 ? nil : try value(page, low - 1, ifKeyIs: key) }
            number = try childNumber(page, low - 1)
        }
        return nil
    }

    // MARK: Pages

    @inline(__always)
    func page(_ number: UInt64, isLeaf: Bool) throws(LMDBError) -> UnsafeRawPointer {
        let page = try address(number)
        try verify(page, isLeaf: isLeaf)
        return page
    }

    @inline(__always)
    private func address(_ number: UInt64) throws(LMDBError) -> UnsafeRawPointer {
        // Pages 0 and 1 are the meta pages.
        guard number >= 2, number < pageLimit else { throw Self.damaged() }
        return base + Int(truncatingIfNeeded: number) &* pageSize
    }

    @inline(__always)
    private func verify(_ page: UnsafeRawPointer, isLeaf: Bool) throws(LMDBError) {
        let number = UInt64(truncatingIfNeeded: (page - base) / pageSize)
        let (lower, upper) = (
            page.load(fromByteOffset: 12, as: UInt16.self), page.load(fromByteOffset: 14, as: UInt16.self)
        )
        guard page.load(as: UInt64.self) == number,
            page.load(fromByteOffset: 10, as: UInt16.self) == (isLeaf ? Self.leaf : Self.branch),
            lower > Self.headerSize, lower & 1 == 0, lower <= upper, Int(upper) <= pageSize
        else { throw Self.damaged() }
    }

    /// Has the processor load a whole page.
    func prefetch(_ number: UInt64) {
        guard let page = try? address(number) else { return }
        for offset in stride(from: 0, to: pageSize, by: Self.lineSize) { roost_prefetch(page + offset) }
    }

    /// The child that a branch's node names, not yet verified: its header is on its way.
    @inline(__always)
    private func child(of page: UnsafeRawPointer, _ position: Int) throws(LMDBError) -> UnsafeRawPointer {
        let child = try address(try childNumber(page, position))
        roost_prefetch(child)
        roost_prefetch(child + Self.lineSize)
        roost_prefetch(child + 2 * Self.lineSize)
        return child
    }

    @inline(__always)
    func childNumber(_ page: UnsafeRawPointer, _ position: Int) throws(LMDBError) -> UInt64 {
        let node = try node(page, position)
        return UInt64(node.loadUnaligned(as: UInt32.self))
            | UInt64(node.loadUnaligned(fromByteOffset: 4, as: UInt16.self)) << 32
    }

    @inline(__always)
    static func count(_ page: UnsafeRawPointer) -> Int {
        (Int(page.load(fromByteOffset: 12, as: UInt16.self)) - headerSize) >> 1
    }

    /// Within the page's header, as `position` is below the count.
    @inline(__always)
    private static func offset(_ page: UnsafeRawPointer, _ position: Int) -> Int {
        Int(page.load(fromByteOffset: headerSize &+ 2 &* position, as: UInt16.self))
    }

    /// The node, whose header and key lie within the page.
    @inline(__always)
    func node(_ page: UnsafeRawPointer, _ position: Int) throws(LMDBError) -> UnsafeRawPointer {
        let offset = Self.offset(page, position)
        guard offset >= Self.headerSize, offset &+ Self.nodeHeaderSize <= pageSize else { throw Self.damaged() }
        let node = page + offset
        guard offset &+ Self.nodeHeaderSize &+ Self.keySize(node) <= pageSize else { throw Self.damaged() }
        return node
    }

    @inline(__always)
    static func keySize(_ node: UnsafeRawPointer) -> Int {
        Int(node.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
    }

    /// The order of the node's key and `key`: below, at or above 0.
    @inline(__always)
    static func compare(_ node: UnsafeRawPointer, _ key: UnsafeRawBufferPointer) -> Int {
        let size = keySize(node)
        let shared = min(size, key.count)
        if shared > 0, let start = key.baseAddress {
            let order = memcmp(node + nodeHeaderSize, start, shared)
            if order != 0 { return Int(order) }
        }
        return size - key.count
    }

    /// Eight bytes of a key as the number that is ordered as they are.
    @inline(__always)
    static func word(_ start: UnsafeRawPointer?) -> UInt64 {
        UInt64(bigEndian: start.unsafelyUnwrapped.loadUnaligned(as: UInt64.self))
    }

    /// The value of a leaf's node; nil when the node has another key.
    @inline(__always)
    private func value(
        _ page: UnsafeRawPointer, _ position: Int, ifKeyIs key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        let node = try node(page, position)
        guard Self.compare(node, key) == 0 else { return nil }
        return try value(page, node)
    }

    /// The value of a leaf's node, on the page or on overflow pages of its own.
    @inline(__always)
    func value(_ page: UnsafeRawPointer, _ node: UnsafeRawPointer) throws(LMDBError) -> UnsafeRawBufferPointer {
        let size = Int(node.loadUnaligned(as: UInt32.self))
        let flags = node.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
        let start = node + (Self.nodeHeaderSize &+ Self.keySize(node))
        if flags == 0 {
            guard (start - page) &+ size <= pageSize else { throw Self.damaged() }
            return UnsafeRawBufferPointer(start: start, count: size)
        }
        guard flags == Self.bigData, (start - page) &+ 8 <= pageSize else { throw Self.damaged() }
        return try large(start.loadUnaligned(as: UInt64.self), size)
    }

    @inline(never)
    private func large(_ number: UInt64, _ size: Int) throws(LMDBError) -> UnsafeRawBufferPointer {
        let page = try address(number)
        let count = UInt64(page.load(fromByteOffset: 12, as: UInt32.self))
        guard page.load(as: UInt64.self) == number,
            page.load(fromByteOffset: 10, as: UInt16.self) == Self.overflow, count > 0, count <= pageLimit - number,
            Self.headerSize + size <= Int(count) * pageSize
        else { throw Self.damaged() }
        return UnsafeRawBufferPointer(start: page + Self.headerSize, count: size)
    }

    @inline(never)
    static func damaged() -> LMDBError { LMDBError(code: MDB_CORRUPTED, operation: "page") }
}
