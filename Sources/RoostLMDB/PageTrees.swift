// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB
import Foundation

/// The page trees of one pooled reader: made when a database is first read in a snapshot, and used until the reader has
/// another. A reader is used by one thread at a time, and so is this.
///
/// None are made where the format is not the known one (data version 1, 64 bits, little-endian, pages no larger than the
/// system's), where the map cannot be found, or with `ROOST_PAGE_READER=off` in the environment: then LMDB's own calls
/// do the same.
struct PageTrees: ~Copyable {
    private struct Source {
        let base: UnsafeRawPointer
        let pageSize: Int
        let pageLimit: UInt64
    }

    private var snapshot = -1
    private var source: Source?
    private var isUnknown = false
    /// By database handle; roots of the snapshot.
    private var trees: [PageTree?] = []

    private static let isOn: Bool = {
        MemoryLayout<Int>.size == 8 && 1.littleEndian == 1
            && ProcessInfo.processInfo.environment["ROOST_PAGE_READER"] != "off"
    }()

    /// The database's tree in the reader's snapshot; nil where LMDB's own calls must do.
    @inline(__always)
    mutating func tree(_ database: Database, _ transaction: OpaquePointer, snapshot: Int) throws(LMDBError) -> PageTree?
    {
        let index = Int(truncatingIfNeeded: database.handle)
        if self.snapshot == snapshot, index < trees.count, let tree = trees[index] { return tree }
        return try make(database, transaction, snapshot)
    }

    @inline(never)
    private mutating func make(
        _ database: Database, _ transaction: OpaquePointer, _ snapshot: Int
    ) throws(LMDBError) -> PageTree? {
        if !Self.isOn || isUnknown { return nil }
        if self.snapshot != snapshot {
            self.snapshot = snapshot
            source = nil
            for index in trees.indices { trees[index] = nil }
        }
        guard let name = database.name else { return nil }
        var record = MDB_val()
        let code = name.withUnsafeBytes { bytes in
            var key = MDB_val(bytes)
            return mdb_get(transaction, Self.mainDatabase, &key, &record)
        }
        // A database that is younger than the snapshot.
        if code == MDB_NOTFOUND { return nil }
        try check(code, "mdb_get")
        guard record.mv_size == Self.recordSize, let start = UnsafeRawPointer(record.mv_data) else { return nil }
        if source == nil { source = Self.source(transaction, start) }
        guard let source else {
            isUnknown = true
            return nil
        }
        let flags = start.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
        let depth = Int(start.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
        // Not used by any store: duplicates, keys in the machine's byte order, a turned order.
        guard flags == 0, depth <= Self.greatestDepth else { return nil }
        let tree = PageTree(
            base: source.base, pageSize: source.pageSize, pageLimit: source.pageLimit,
            root: start.loadUnaligned(fromByteOffset: 40, as: UInt64.self), depth: depth)
        let index = Int(truncatingIfNeeded: database.handle)
        while trees.count <= index { trees.append(nil) }
        trees[index] = tree
        return tree
    }

    /// `MAIN_DBI` of mdb.c, whose entries name the other databases.
    private static let mainDatabase: MDB_dbi = 1
    /// `sizeof(MDB_db)`: padding (4), flags (2), depth (2), numbers of pages (3 × 8) and entries (8), root (8).
    private static let recordSize = 48
    /// `CURSOR_STACK` of mdb.c.
    private static let greatestDepth = 32
    private static let magic: UInt32 = 0xBEEF_C0DE
    private static let dataVersion: UInt32 = 1
    private static let metaPage: UInt16 = 0x08

    /// Finds the map from a value that LMDB has given: the page that it stands on knows its number. The first page must then
    /// be a meta page of the known version and size.
    private static func source(_ transaction: OpaquePointer, _ value: UnsafeRawPointer) -> Source? {
        guard let environment = mdb_txn_env(transaction) else { return nil }
        var info = MDB_envinfo()
        var stat = MDB_stat()
        mdb_env_info(environment, &info)
        mdb_env_stat(environment, &stat)
        var descriptor: mdb_filehandle_t = -1
        var file = Foundation.stat()
        guard mdb_env_get_fd(environment, &descriptor) == MDB_SUCCESS, fstat(descriptor, &file) == 0 else { return nil }
        let pageSize = Int(stat.ms_psize)
        // The map begins at a page of the system's.
        guard pageSize >= 512, pageSize & (pageSize - 1) == 0, pageSize <= sysconf(Int32(_SC_PAGESIZE)) else {
            return nil
        }
        // A peer's file may be larger than this process's map.
        let pageLimit = min(
            UInt64(info.me_last_pgno) + 1, UInt64(file.st_size) / UInt64(pageSize),
            UInt64(info.me_mapsize) / UInt64(pageSize))
        guard let page = UnsafeRawPointer(bitPattern: Int(bitPattern: value) & ~(pageSize - 1)) else { return nil }
        let number = page.load(as: UInt64.self)
        guard number >= 2, number < pageLimit,
            let base = UnsafeRawPointer(bitPattern: Int(bitPattern: page) - Int(number) * pageSize),
            isMapped(base, pageSize)
        else { return nil }
        guard base.load(as: UInt64.self) == 0, base.load(fromByteOffset: 10, as: UInt16.self) == metaPage,
            base.load(fromByteOffset: 16, as: UInt32.self) == magic,
            base.load(fromByteOffset: 20, as: UInt32.self) == dataVersion,
            base.load(fromByteOffset: 40, as: UInt32.self) == UInt32(pageSize)
        else { return nil }
        return Source(base: base, pageSize: pageSize, pageLimit: pageLimit)
    }

    /// Whether the page may be read at all: a page with a wrong number would lead anywhere.
    private static func isMapped(_ page: UnsafeRawPointer, _ size: Int) -> Bool {
        let system = sysconf(Int32(_SC_PAGESIZE))
        guard Int(bitPattern: page) % system == 0 else { return false }
        var resident: UInt8 = 0
        return mincore(UnsafeMutableRawPointer(mutating: page), size, &resident) == 0
    }
}
