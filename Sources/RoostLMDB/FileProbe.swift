// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Looks into a data file without LMDB, which trusts what it maps and dies of a damaged file (hazard 27).
///
/// Only for files that this process does not have open: see hazard 2. It reads both meta pages and walks down the pages
/// of the main database to one entry. Page numbers and offsets are those of LMDB's data version 1
/// on a 64-bit machine (`struct MDB_meta`, `MDB_page`, `MDB_node` of mdb.c), in the byte order of the machine.
package struct FileProbe {
    package enum Finding: Error, Equatable {
        case unreadable(Int32)
        /// Empty, or not LMDB's format at all.
        case notLMDB
        /// LMDB's format, of a version that this code does not know.
        case otherVersion(UInt32)
        /// LMDB's format, with something out of bounds; what it is.
        case damaged(String)
    }

    private static let magic: UInt32 = 0xBEEF_C0DE
    private static let dataVersion: UInt32 = 1
    static let pageHeaderSize = 16
    static let branchPage: UInt16 = 0x01
    static let leafPage: UInt16 = 0x02
    private static let overflowPage: UInt16 = 0x04
    private static let metaPage: UInt16 = 0x08
    static let bigData: UInt16 = 0x01
    static let subDatabase: UInt16 = 0x02

    struct Meta {
        let pageSize: Int
        let freeDepth: UInt16
        let freeRoot: UInt64
        let depth: UInt16
        let root: UInt64
        let lastPage: UInt64
        let transaction: UInt64
    }

    private let descriptor: Int32
    let length: Int

    /// The first key and value of the main database; nil when it is empty.
    package static func firstEntry(of path: String) throws(Finding) -> (key: [UInt8], value: [UInt8])? {
        try probing(path) { (probe) throws(Finding) in try probe.firstEntry() }
    }

    /// The value of `key` in the main database; nil when there is none.
    ///
    /// Another process may be writing: what is found belongs to one snapshot only if two commits have not gone by
    /// meanwhile, so the caller must be able to tell a whole value from a torn one, as by a checksum.
    package static func value(of key: [UInt8], in path: String) throws(Finding) -> [UInt8]? {
        try probing(path) { (probe) throws(Finding) in try probe.value(of: key) }
    }

    private static func probing<Result>(
        _ path: String, _ body: (FileProbe) throws(Finding) -> Result
    ) throws(Finding) -> Result {
        // Without waiting: a pipe of that name would wait for somebody to write into it.
        let descriptor = Descriptors.open(path, O_RDONLY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(errno) }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw .unreadable(errno) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw .notLMDB }
        return try body(FileProbe(descriptor: descriptor, length: Int(info.st_size)))
    }

    // MARK: The tree

    private func firstEntry() throws(Finding) -> (key: [UInt8], value: [UInt8])? {
        let newest = try newestMeta()
        guard let leaf = try leaf(newest, { (_) throws(Finding) in 0 }) else { return nil }
        let node = try leaf.node(0)
        return (Array(leaf.bytes[node.key]), try value(node, on: leaf, newest))
    }

    private func value(of key: [UInt8]) throws(Finding) -> [UInt8]? {
        let newest = try newestMeta()
        let found = try leaf(newest) { (page) throws(Finding) in
            // The first entry of a branch page stands for everything below the second.
            var child = 0
            for index in 1..<max(page.count, 1) {
                if key.lexicographicallyPrecedes(page.bytes[try page.node(index).key]) { break }
                child = index
            }
            return child
        }
        guard let leaf = found else { return nil }
        for index in 0..<leaf.count {
            let node = try leaf.node(index)
            if leaf.bytes[node.key].elementsEqual(key) { return try value(node, on: leaf, newest) }
        }
        return nil
    }

    /// Walks down from the root by the child that `choose` picks on each branch page; nil when the tree is empty.
    private func leaf(
        _ newest: Meta, _ choose: (Page) throws(Finding) -> Int
    ) throws(Finding) -> Page? {
        if newest.depth == 0 { return nil }
        var number = newest.root
        for _ in 0..<Int(newest.depth) {
            let page = Page(number: number, bytes: try page(number, newest))
            guard page.lower > Self.pageHeaderSize, page.lower <= page.bytes.count else {
                throw .damaged("page \(number) has no entries")
            }
            if page.flags & Self.leafPage != 0 { return page }
            guard page.flags & Self.branchPage != 0 else { throw .damaged("page \(number) is of the wrong kind") }
            number = try page.node(try choose(page)).child
        }
        throw .damaged("the main database is deeper than it says")
    }

    func page(_ number: UInt64, _ newest: Meta) throws(Finding) -> [UInt8] {
        guard number >= 2, number <= newest.lastPage else {
            throw .damaged("the main database points to page \(number), outside the file")
        }
        guard (Int(number) + 1) * newest.pageSize <= length else {
            throw .damaged("the file ends at byte \(length), before page \(number), which is in use")
        }
        let page = try read(at: Int(number) * newest.pageSize, count: newest.pageSize)
        guard page.count == newest.pageSize, page.load(at: 0, as: UInt64.self) == number else {
            throw .damaged("page \(number) is cut off or overwritten")
        }
        return page
    }

    /// A leaf node's value, on its page or on overflow pages of its own.
    private func value(_ node: Node, on page: Page, _ newest: Meta) throws(Finding) -> [UInt8] {
        let start = node.key.upperBound
        if node.flags & Self.bigData == 0 {
            guard start + node.size <= page.bytes.count else { throw .damaged("page \(page.number) has a bad entry") }
            return Array(page.bytes[start..<start + node.size])
        }
        guard start + 8 <= page.bytes.count else { throw .damaged("page \(page.number) has a bad entry") }
        let number = page.bytes.load(at: start, as: UInt64.self)
        let first = try self.page(number, newest)
        guard first.load(at: 10, as: UInt16.self) & Self.overflowPage != 0 else {
            throw .damaged("page \(number) is of the wrong kind")
        }
        let offset = Int(number) * newest.pageSize + Self.pageHeaderSize
        guard node.size <= length - offset else { throw .damaged("page \(number) is cut off") }
        return try read(at: offset, count: node.size)
    }

    struct Page {
        let number: UInt64
        let bytes: [UInt8]
        var flags: UInt16 { bytes.load(at: 10, as: UInt16.self) }
        /// Where the entries' offsets end.
        var lower: Int { Int(bytes.load(at: 12, as: UInt16.self)) }
        var count: Int { (lower - FileProbe.pageHeaderSize) / 2 }

        func node(_ index: Int) throws(Finding) -> Node {
            let offset = FileProbe.pageHeaderSize + 2 * index
            guard offset + 2 <= lower else { throw .damaged("page \(number) has a bad entry") }
            let start = Int(bytes.load(at: offset, as: UInt16.self))
            guard start >= lower, start + 8 <= bytes.count else { throw .damaged("page \(number) has a bad entry") }
            let size =
                UInt64(bytes.load(at: start, as: UInt16.self))
                | UInt64(bytes.load(at: start + 2, as: UInt16.self)) << 16
            let flags = bytes.load(at: start + 4, as: UInt16.self)
            let end = start + 8 + Int(bytes.load(at: start + 6, as: UInt16.self))
            guard end <= bytes.count else { throw .damaged("page \(number) has a bad entry") }
            return Node(
                key: start + 8..<end, size: Int(size), child: size | UInt64(flags) << 32, flags: flags)
        }
    }

    /// `MDB_node`: on a leaf page `size` and `flags` are the value's, on a branch page they are parts of `child`.
    struct Node {
        let key: Range<Int>
        let size: Int
        let child: UInt64
        let flags: UInt16
    }

    // MARK: Meta pages

    private func newestMeta() throws(Finding) -> Meta {
        let first = try read(at: 0, count: 4_096)
        guard first.count >= 152, first.load(at: 10, as: UInt16.self) & Self.metaPage != 0,
            first.load(at: 16, as: UInt32.self) == Self.magic
        else { throw .notLMDB }
        let one = try meta(first)
        let second = try read(at: one.pageSize, count: 4_096)
        guard second.count >= 152, second.load(at: 16, as: UInt32.self) == Self.magic else {
            throw .damaged("the second meta page is missing or overwritten")
        }
        let two = try meta(second)
        guard one.pageSize == two.pageSize else { throw .damaged("the meta pages disagree about the page size") }
        let newest = one.transaction >= two.transaction ? one : two
        // A transaction that gave back pages which it had taken at the file's end never wrote them: a shorter file is
        // whole when nothing that is in use lies beyond its end.
        if (Int(newest.lastPage) + 1) * newest.pageSize > length { try verifyExtent(newest) }
        return newest
    }

    private func meta(_ page: [UInt8]) throws(Finding) -> Meta {
        let version = page.load(at: 20, as: UInt32.self)
        guard version == Self.dataVersion else { throw .otherVersion(version) }
        // After magic and version: address, map size, then the records of the free list and of the main database.
        let free = 40
        let main = free + 48
        let pageSize = Int(page.load(at: free, as: UInt32.self))
        guard pageSize >= 512, pageSize <= 65_536, pageSize & (pageSize - 1) == 0 else {
            throw .damaged("the page size is \(pageSize)")
        }
        let meta = Meta(
            pageSize: pageSize,
            freeDepth: page.load(at: free + 6, as: UInt16.self),
            freeRoot: page.load(at: free + 40, as: UInt64.self),
            depth: page.load(at: main + 6, as: UInt16.self),
            root: page.load(at: main + 40, as: UInt64.self),
            lastPage: page.load(at: main + 48, as: UInt64.self),
            transaction: page.load(at: main + 56, as: UInt64.self))
        guard meta.depth <= 32 else { throw .damaged("the main database is \(meta.depth) levels deep") }
        guard meta.lastPage < UInt64(Int.max / 65_536) else {
            throw .damaged("the last page is \(meta.lastPage)")
        }
        return meta
    }

    func read(at offset: Int, count: Int) throws(Finding) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw .unreadable(errno) }
            if got == 0 { break }
            done += got
        }
        return Array(bytes[..<done])
    }
}

extension [UInt8] {
    /// An unaligned load in the machine's byte order, which is LMDB's. The caller has checked the bounds.
    func load<T: BitwiseCopyable>(at offset: Int, as type: T.Type) -> T {
        withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: T.self) }
    }
}
