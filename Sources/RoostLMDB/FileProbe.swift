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
/// Only for files that this process does not have open: see hazard 2. It reads both meta pages and walks down the
/// leftmost pages of the main database to its first entry. Page numbers and offsets are those of LMDB's data version 1
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

    /// The first key and value of the main database; nil when it is empty. A value on pages of its own, which none of
    /// Roost's first entries has, is given as no bytes.
    package static func firstEntry(of path: String) throws(Finding) -> (key: [UInt8], value: [UInt8])? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(errno) }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw .unreadable(errno) }
        return try FileProbe(descriptor: descriptor, length: Int(info.st_size)).firstEntry()
    }

    private func firstEntry() throws(Finding) -> (key: [UInt8], value: [UInt8])? {
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
        if newest.depth == 0 { return nil }

        var number = newest.root
        for _ in 0..<Int(newest.depth) {
            guard number >= 2, number <= newest.lastPage else {
                throw .damaged("the main database points to page \(number), outside the file")
            }
            let page = try read(at: Int(number) * newest.pageSize, count: newest.pageSize)
            guard page.count == newest.pageSize, page.load(at: 0, as: UInt64.self) == number else {
                throw .damaged("page \(number) is cut off or overwritten")
            }
            let flags = page.load(at: 10, as: UInt16.self)
            let lower = Int(page.load(at: 12, as: UInt16.self))
            guard lower > Self.pageHeaderSize, lower <= page.count else {
                throw .damaged("page \(number) has no entries")
            }
            let node = Int(page.load(at: Self.pageHeaderSize, as: UInt16.self))
            guard node >= lower, node + 8 <= page.count else { throw .damaged("page \(number) has a bad entry") }
            let low = UInt64(page.load(at: node, as: UInt16.self))
            let high = UInt64(page.load(at: node + 2, as: UInt16.self))
            let nodeFlags = page.load(at: node + 4, as: UInt16.self)
            let keySize = Int(page.load(at: node + 6, as: UInt16.self))
            if flags & Self.leafPage != 0 {
                let size = Int(low | high << 16)
                let start = node + 8
                let isElsewhere = nodeFlags & Self.bigData != 0
                guard start + keySize + (isElsewhere ? 8 : size) <= page.count else {
                    throw .damaged("page \(number) has a bad entry")
                }
                let key = Array(page[start..<start + keySize])
                return (key, isElsewhere ? [] : Array(page[start + keySize..<start + keySize + size]))
            }
            guard flags & Self.branchPage != 0 else { throw .damaged("page \(number) is of the wrong kind") }
            number = low | high << 16 | UInt64(nodeFlags) << 32
        }
        throw .damaged("the main database is deeper than it says")
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
