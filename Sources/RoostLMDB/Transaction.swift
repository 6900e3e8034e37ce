// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB

/// An LMDB transaction: a pooled read-only snapshot, or the one write transaction of the environment.
///
/// The object is confined to the thread that runs the body it is handed to: it is reachable only inside
/// `Environment.read` and `Environment.write`, whose closures do not escape. Byte buffers that it returns point into
/// the map; they are valid until the next write of the same transaction or its end (hazard 21).
package final class Transaction {
    let handle: OpaquePointer
    package let isWrite: Bool
    /// What was read. In memory of its own, as is the snapshot's number: a stored property of a class would be checked for
    /// exclusive access each time.
    let tally: Tally

    /// The first failed write. Once set, every later write throws it, as does every read that LMDB refuses, and the
    /// transaction can only abort (hazard 24).
    package private(set) var failure: LMDBError?

    /// Whether what is in use at its end must be within the limit (hazard 4): not where it only deletes.
    package var isHeldToLimit = true

    /// Bytes of pages by which what is in use may have grown, at the most.
    private(set) var greatestGrowth = 0
    /// More than a put splits, of pages of any size, and what a value's last page has free.
    private static let greatestSplit = 1 << 18

    /// Cursors of a write transaction, one a database, kept until its end: a put next to the last one then starts
    /// from the same page instead of the root.
    private var writeCursors: [OpaquePointer?] = []

    /// Databases whose only entry was removed, with its key, while the file still has it: LMDB uses the page of an emptied
    /// tree for nothing else in this transaction, so that one that is emptied and filled again would cost a page each time.
    /// A put settles it, and so does whatever reads.
    private var emptied: [(database: Database, key: [UInt8])] = []

    /// Only a pooled reader has one.
    private let locations: LocationCache?
    private let pages: UnsafeMutablePointer<PageTrees>?
    private let snapshot: UnsafeMutablePointer<Int>

    init(handle: OpaquePointer, isWrite: Bool, isPooled: Bool = false) {
        self.handle = handle
        self.isWrite = isWrite
        tally = Tally()
        locations = isPooled ? LocationCache() : nil
        pages = isPooled ? .allocate(capacity: 1) : nil
        pages?.initialize(to: PageTrees())
        snapshot = .allocate(capacity: 1)
        begin()
    }

    deinit {
        snapshot.deallocate()
        tally.deallocate()
        locations?.deallocate()
        pages?.deinitialize(count: 1)
        pages?.deallocate()
    }

    /// Also called when a pooled reader begins anew, on the newest snapshot.
    func begin() {
        snapshot.initialize(to: mdb_txn_id(handle))
        tally.reset()
    }

    /// The map lies elsewhere now: what was found in it is found anew. Between two uses.
    func forgetPlaces() {
        locations?.removeAll()
        pages?.pointee = PageTrees()
    }

    /// LMDB's number of the snapshot. Not a commit sequence: it is used only to notice that nothing has changed.
    package var snapshotID: Int { snapshot.pointee }

    package var counters: Counters { tally.counters }

    // MARK: Reading

    /// Look-ups without counting references to the transaction; to be used only inside the body that the transaction was
    /// handed to.
    package var lookup: Lookup {
        Lookup(
            handle: handle, tally: tally, locations: locations, pages: pages, snapshot: snapshotID,
            writer: isWrite ? self : nil)
    }

    /// The value of `key`, or nil. At most one B-tree descent, no copy.
    package func get(_ database: Database, _ key: UnsafeRawBufferPointer) throws(LMDBError) -> UnsafeRawBufferPointer? {
        do throws(LMDBError) {
            return try lookup.get(database, key)
        } catch {
            // After a failed write LMDB refuses reads as well: what is told is why.
            throw failure ?? error
        }
    }

    /// The tree by which many keys are looked up at once; nil where LMDB's own calls do it.
    func pageTree(_ database: Database) throws(LMDBError) -> PageTree? {
        try pages?.pointee.tree(database, handle, snapshot: snapshotID)
    }

    package func statistics(of database: Database) throws(LMDBError) -> DatabaseStatistics {
        try settle(database)
        var stat = MDB_stat()
        let code = mdb_stat(handle, database.handle, &stat)
        guard code == MDB_SUCCESS else { throw failure ?? RoostLMDB.failure(code, "mdb_stat") }
        return DatabaseStatistics(
            entries: Int(stat.ms_entries),
            depth: Int(stat.ms_depth),
            pages: Int(stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages),
            pageSize: Int(stat.ms_psize))
    }

    /// A new cursor on `database`; it closes itself at the end of its scope (hazard 35).
    package func cursor(_ database: Database) throws(LMDBError) -> Cursor {
        if let tree = try pageTree(database) {
            return Cursor(path: PagePath(tree), transaction: self, role: database.role)
        }
        try settle(database)
        var cursor: OpaquePointer?
        let code = mdb_cursor_open(handle, database.handle, &cursor)
        guard code == MDB_SUCCESS, let cursor else { throw failure ?? RoostLMDB.failure(code, "mdb_cursor_open") }
        return Cursor(handle: cursor, transaction: self, role: database.role)
    }

    // MARK: Writing

    /// The longest value: LMDB writes one in a single call, and the system takes at most this much (Linux: 7FFFF000 bytes)
    /// with the page's header. A longer one must be refused above.
    package static var longestValue: Int { 0x7FFF_0000 - PageTree.headerSize }

    /// Stores `value` under `key`, replacing what was there. Returns false, and stores nothing, when `overwrite` is
    /// false and the key exists.
    @discardableResult
    package func put(
        _ database: Database, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, overwrite: Bool = true
    ) throws(LMDBError) -> Bool {
        let cursor = try writeCursor(database)
        var keyValue = MDB_val(key)
        var dataValue = MDB_val(value)
        let removed = emptied.isEmpty ? nil : takeEmptied(database)
        let isRemoved = removed.map { $0.elementsEqual(key) } ?? false
        let flags = overwrite || isRemoved ? 0 : UInt32(MDB_NOOVERWRITE)
        let code = mdb_cursor_put(cursor, &keyValue, &dataValue, flags)
        if code == MDB_KEYEXIST && !overwrite { return false }
        guard code == MDB_SUCCESS else { throw fail(code, "mdb_cursor_put") }
        greatestGrowth &+= value.count &+ Self.greatestSplit
        if let removed, !isRemoved { try remove(database, removed, cursor) }
        return true
    }

    /// Removes `key`. Returns false when it was not there.
    @discardableResult
    package func delete(_ database: Database, key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        let cursor = try writeCursor(database)
        if !emptied.isEmpty, emptied.contains(where: { $0.database.handle == database.handle }) { return false }
        return try remove(database, key, cursor, isFinal: false)
    }

    private func remove(
        _ database: Database, _ key: UnsafeRawBufferPointer, _ cursor: OpaquePointer, isFinal: Bool
    ) throws(LMDBError) -> Bool {
        var keyValue = MDB_val(key)
        let found = mdb_cursor_get(cursor, &keyValue, nil, MDB_SET)
        if found == MDB_NOTFOUND { return false }
        guard found == MDB_SUCCESS else { throw fail(found, "mdb_cursor_get") }
        if !isFinal {
            var stat = MDB_stat()
            let code = mdb_stat(handle, database.handle, &stat)
            guard code == MDB_SUCCESS else { throw fail(code, "mdb_stat") }
            if stat.ms_entries == 1 {
                emptied.append((database, Array(key)))
                return true
            }
        }
        let code = mdb_cursor_del(cursor, 0)
        guard code == MDB_SUCCESS else { throw fail(code, "mdb_cursor_del") }
        return true
    }

    private func takeEmptied(_ database: Database) -> [UInt8]? {
        guard let index = emptied.firstIndex(where: { $0.database.handle == database.handle }) else { return nil }
        return emptied.remove(at: index).key
    }

    /// Removes from the file what was removed already, before somebody reads the database.
    @inline(__always)
    func settle(_ database: Database) throws(LMDBError) {
        if !emptied.isEmpty { try settleEmptied(database) }
    }

    @inline(never)
    private func settleEmptied(_ database: Database) throws(LMDBError) {
        guard let key = takeEmptied(database) else { return }
        let cursor = try writeCursor(database)
        try remove(database, key, cursor)
    }

    private func remove(_ database: Database, _ key: [UInt8], _ cursor: OpaquePointer) throws(LMDBError) {
        _ = try key.withUnsafeBufferPointer { (key) throws(LMDBError) in
            try remove(database, UnsafeRawBufferPointer(key), cursor, isFinal: true)
        }
    }

    /// The last thing before the commit.
    func settleAll() throws(LMDBError) {
        while failure == nil, let (database, _) = emptied.first { try settleEmptied(database) }
    }

    /// Marks the transaction as failed from above, for a write that could not be finished.
    package func poison(_ error: LMDBError) {
        if failure == nil { failure = error }
    }

    private func fail(_ code: Int32, _ operation: StaticString) -> LMDBError {
        let code = mdb_txn_env(handle).map { DiskSpace.diagnose(code, $0) } ?? code
        let error = LMDBError(code: code, operation: operation)
        poison(error)
        return error
    }

    private func writeCursor(_ database: Database) throws(LMDBError) -> OpaquePointer {
        if let failure { throw failure }
        let index = Int(database.handle)
        if index < writeCursors.count, let cursor = writeCursors[index] { return cursor }
        var cursor: OpaquePointer?
        let code = mdb_cursor_open(handle, database.handle, &cursor)
        guard code == MDB_SUCCESS, let cursor else { throw fail(code, "mdb_cursor_open") }
        while writeCursors.count <= index { writeCursors.append(nil) }
        writeCursors[index] = cursor
        return cursor
    }

    func closeWriteCursors() {
        for case let cursor? in writeCursors { mdb_cursor_close(cursor) }
        writeCursors.removeAll()
    }
}

extension MDB_val {
    /// LMDB does not write through a key's pointer, nor through the value's of a put.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    @inline(__always)
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}
