// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB
import Foundation
import Synchronization

/// An open LMDB environment, shared by everyone in this process who opened the same file (hazard 1).
///
/// Mutable state:
/// - `lifecycle` (mutex): the count of users, whether it is closed, and the resident;
/// - `writing` (lock): held by the one writer of this process; LMDB serialises the processes. It guards the count of
///   writes until dead readers are looked for again.
///
/// The `MDB_env` handle is used only between `open` and the end of `close`, which waits for every live transaction
/// (hazard 3).
///
/// Unchecked: LMDB's handle is a pointer, which an environment may use from any thread, and the count of writes is a plain
/// variable that `writing` guards.
package final class Environment: @unchecked Sendable {
    /// How much a commit waits for the disk (hazard 31).
    package enum Durability: Sendable, Equatable {
        case full, relaxed, unsafe
    }

    package struct Options: Sendable, Equatable {
        /// Bytes of pages that may be in use; nil leaves it at what the default map holds. See `Environment+Limit.swift`.
        package var maximumSize: Int?
        package var durability: Durability
        package var isReadOnly: Bool
        /// How many read transactions may be live at once in this process.
        package var readerLimit: Int
        package var databaseLimit: Int
        /// Reader slots, over all processes, that are asked for. The first process to open the file sets them: the others
        /// take the lock file as it is, and it never becomes smaller.
        package var slotLimit: Int

        package init(
            maximumSize: Int? = nil, durability: Durability = .full, isReadOnly: Bool = false, readerLimit: Int = 32,
            databaseLimit: Int = 4_096, slotLimit: Int = 1_022
        ) {
            self.maximumSize = maximumSize
            self.durability = durability
            self.isReadOnly = isReadOnly
            self.readerLimit = readerLimit
            self.databaseLimit = databaseLimit
            self.slotLimit = slotLimit
        }
    }

    package enum UseError: Error {
        case lmdb(LMDBError)
        /// The environment has been closed.
        case closed
        /// A write was begun on a thread that is already inside one (hazard 13).
        case nestedWrite
        /// The transaction would have left more in use than may be (hazard 4).
        case full(Shortage)
    }

    private struct Lifecycle {
        var users = 1
        /// The users who have announced that they will close it.
        var leaving = 0
        var closed = false
        var resident: (any AnyObject & Sendable)?
        /// Held until LMDB has closed its files.
        var presence: PresenceLock?
    }

    package let directory: String
    package let options: Options
    let identity: FileIdentity
    /// The directory's identity.
    let place: FileIdentity
    let handle: OpaquePointer
    private let pool: ReaderPool
    /// One reader outside the pool's limit, made when it is first used.
    private let reserve: ReaderPool
    var pools: [ReaderPool] { [pool, reserve] }
    private let lifecycle = Mutex(Lifecycle())
    /// Held while a write transaction runs, so that `close` can wait for it.
    let writing = NSLock()
    /// Held while the map is made anew; see `followMapSize`.
    let resizing = NSLock()
    /// Held while a transaction lives that no pool knows of.
    let opening = NSLock()
    /// Write transactions since dead readers were last looked for; guarded by `writing`.
    private var writesSinceReaderCheck = 0
    private static let writesPerReaderCheck = 256
    /// No database has this handle or a greater one.
    let handleLimit = Atomic<MDB_dbi>(2)
    /// A transaction that only deleted has found the map full.
    private let needsRoom = Atomic<Bool>(false)

    init(
        directory: String, place: FileIdentity, options: Options, identity: FileIdentity, handle: OpaquePointer
    ) {
        self.directory = directory
        self.place = place
        self.options = options
        self.identity = identity
        self.handle = handle
        pool = ReaderPool(environment: handle, limit: options.readerLimit)
        reserve = ReaderPool(environment: handle, limit: 1)
    }

    // MARK: Transactions

    /// A snapshot on the current thread. It ends with the lease, which must be on the thread that began it, innermost first.
    /// Renewing a pooled transaction takes about 50 ns.
    ///
    /// It counts no references: the environment holds the transaction, and is held by whoever has the lease.
    package struct ReadLease: ~Copyable {
        package unowned(unsafe) let transaction: Transaction
        /// Nil for a read that joined an outer transaction.
        private unowned(unsafe) let slot: ReaderSlot?

        fileprivate init(_ transaction: Transaction, _ slot: ReaderSlot?) {
            self.transaction = transaction
            self.slot = slot
        }

        deinit {
            guard let slot else { return }
            assert(ThreadContext.current == slot.frame, "a read has ended on another thread, or before one inside it")
            ThreadContext.current = slot.frame.pointee.outer
            slot.frame.pointee.outer = nil
            slot.frame.pointee.environment = nil
            slot.pool.release(slot)
        }
    }

    /// Begins a read. Inside a transaction of this environment on the same thread it joins the innermost one: in a write it
    /// sees what the write has changed. Waits while all readers are in use, but not for the writer.
    package func beginRead(origin: ReaderOrigin? = nil) throws(UseError) -> ReadLease {
        if ThreadContext.current != nil, let outer = ThreadContext.innermost(of: self) {
            return ReadLease(outer.pointee.transaction, nil)
        }
        return try beginRead(from: pool, origin: origin)
    }

    private func beginRead(from pool: ReaderPool, origin: ReaderOrigin?) throws(UseError) -> ReadLease {
        let acquired: ReaderSlot?
        do {
            acquired = try retryingAfterResize { () throws(LMDBError) in try pool.acquire(origin: origin) }
        } catch {
            throw .lmdb(error)
        }
        guard let slot = acquired else { throw .closed }
        slot.frame.pointee.outer = ThreadContext.current
        slot.frame.pointee.environment = self
        ThreadContext.current = slot.frame
        return ReadLease(slot.transaction, slot)
    }

    /// Runs `begin`, and again after the map was made as large as the file when that was why it failed. A peer may grow the
    /// file again meanwhile, but not for ever.
    @inline(__always)
    private func retryingAfterResize<Result>(_ begin: () throws(LMDBError) -> Result) throws(LMDBError) -> Result {
        do {
            return try begin()
        } catch {
            guard error.isMapResized else { throw error }
        }
        for _ in 0..<8 {
            try followMapSize()
            do {
                return try begin()
            } catch {
                guard error.isMapResized else { throw error }
            }
        }
        return try begin()
    }

    /// Runs `body` on a snapshot. Throws `UseError` for what this module finds wrong, and whatever `body` throws as it is.
    package func read<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
        try withExtendedLifetime(self) {
            let lease = try beginRead()
            return try withExtendedLifetime(lease) { lease in try body(lease.transaction) }
        }
    }

    /// Runs `body` on a snapshot of a reader that is kept for this alone: it never waits for those who `read`, is counted
    /// nowhere, and is no part of a transaction of the thread's. One call runs at a time, others wait for it: for short
    /// reads of Roost's own.
    package func readAside<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
        try withExtendedLifetime(self) {
            let lease = try beginRead(from: reserve, origin: nil)
            return try withExtendedLifetime(lease) { lease in try body(lease.transaction) }
        }
    }

    /// Runs `body` in a read transaction of its own that is committed, so that the databases it opens stay open. Where the
    /// file has outgrown the map it waits as every read does; who holds a lock meanwhile says no to `followsMap`, gets
    /// `MDB_MAP_RESIZED` and calls `followMapSize` without it.
    package func readToOpen<Result>(
        followsMap: Bool = true, _ body: (Transaction) throws -> Result
    ) throws -> Result {
        let txn: OpaquePointer
        do {
            txn = followsMap ? try retryingAfterResize { () throws(LMDBError) in try beginToOpen() } : try beginToOpen()
        } catch {
            throw UseError.lmdb(error)
        }
        defer { opening.unlock() }
        let result: Result
        do {
            result = try body(Transaction(handle: txn, isWrite: false))
        } catch {
            mdb_txn_abort(txn)
            throw error
        }
        let committed = mdb_txn_commit(txn)
        guard committed == MDB_SUCCESS else { throw UseError.lmdb(failure(committed, "mdb_txn_commit")) }
        return result
    }

    /// Begins a read that no pool knows of, and returns with `opening` held; without it when it throws.
    private func beginToOpen() throws(LMDBError) -> OpaquePointer {
        opening.lock()
        let (code, began) = RoostLMDB.beginRead(handle) { true }
        if code == MDB_SUCCESS, let began { return began }
        opening.unlock()
        throw failure(code, "mdb_txn_begin")
    }

    /// Runs `body` in the write transaction and commits, on the current thread throughout (hazard 12). A throw from
    /// `body`, and any write that failed inside it, aborts: nothing happened.
    package func write<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
        if ThreadContext.isWriting(self) { throw UseError.nestedWrite }
        if needsRoom.load(ordering: .relaxed), needsRoom.exchange(false, ordering: .relaxed) { makeRoom() }
        let txn: OpaquePointer
        do {
            txn = try retryingAfterResize { () throws(LMDBError) in try beginWrite() }
        } catch {
            throw error.isClosed ? UseError.closed : UseError.lmdb(error)
        }
        defer { writing.unlock() }
        let transaction = Transaction(handle: txn, isWrite: true)
        let frame = UnsafeMutablePointer<ThreadFrame>.allocate(capacity: 1)
        frame.initialize(
            to: ThreadFrame(transaction: transaction, environment: self, outer: ThreadContext.current))
        ThreadContext.current = frame
        defer {
            ThreadContext.current = frame.pointee.outer
            frame.deallocate()
            withExtendedLifetime(transaction) {}
        }
        let result: Result
        do {
            result = try body(transaction)
            do throws(LMDBError) { try transaction.settleAll() } catch { throw UseError.lmdb(error) }
            if let failure = transaction.failure { throw UseError.lmdb(failure) }
            if let shortage = shortage(of: transaction) { throw UseError.full(shortage) }
        } catch {
            transaction.closeWriteCursors()
            mdb_txn_abort(txn)
            noteShortage(of: transaction, transaction.failure?.code)
            throw error
        }
        transaction.closeWriteCursors()
        let code = mdb_txn_commit(txn)
        noteShortage(of: transaction, code)
        guard code == MDB_SUCCESS else {
            throw UseError.lmdb(failure(DiskSpace.diagnose(code, handle), "mdb_txn_commit"))
        }
        return result
    }

    private func noteShortage(of transaction: Transaction, _ code: Int32?) {
        if code == MDB_MAP_FULL, !transaction.isHeldToLimit { needsRoom.store(true, ordering: .relaxed) }
    }

    /// Begins the write transaction and returns with `writing` held; without it when it throws.
    private func beginWrite() throws(LMDBError) -> OpaquePointer {
        writing.lock()
        if lifecycle.withLock({ $0.closed }) {
            writing.unlock()
            throw .closed
        }
        writesSinceReaderCheck += 1
        if writesSinceReaderCheck >= Self.writesPerReaderCheck {
            // Hazard 9: what a dead process read would keep its pages from being used again.
            writesSinceReaderCheck = 0
            clearDeadReaders()
        }
        var began: OpaquePointer?
        let code = mdb_txn_begin(handle, nil, 0, &began)
        if code == MDB_SUCCESS, let began { return began }
        writing.unlock()
        throw failure(code, "mdb_txn_begin")
    }

    /// Whether the current thread is inside a transaction of this environment.
    package var isBusyOnThisThread: Bool { ThreadContext.innermost(of: self) != nil }

    /// Whether the current thread is inside a write of this environment.
    package var isWritingOnThisThread: Bool { ThreadContext.isWriting(self) }

    // MARK: Databases

    /// Opens, or creates, databases by name in one committed transaction (hazard 15). A missing database of a
    /// read-only environment is nil.
    package func openDatabases(
        _ wanted: [(name: String?, role: Database.Role)], in transaction: Transaction
    ) throws(LMDBError) -> [Database?] {
        var opened: [Database?] = []
        for (name, role) in wanted {
            var handle: MDB_dbi = 0
            let flags = transaction.isWrite && name != nil ? UInt32(MDB_CREATE) : 0
            let code = mdb_dbi_open(transaction.handle, name, flags, &handle)
            if code == MDB_NOTFOUND {
                opened.append(nil)
                continue
            }
            try check(code, "mdb_dbi_open")
            opened.append(Database(handle: handle, role: role, name: name))
            handleLimit.max(handle + 1, ordering: .releasing)
        }
        return opened
    }

    // MARK: State of the file

    /// Runs `body` while the handle is certainly open; nil once the environment is closing.
    func whileOpen<Result>(_ body: (OpaquePointer) -> Result?) -> Result? {
        lifecycle.withLock { state in state.closed ? nil : body(handle) }
    }

    /// The newest snapshot's number, read from the map without a transaction (about 20 ns). It moves with every commit of
    /// every process, a moment before a read can begin with it: LMDB has written the meta page, and does not yet hand the
    /// snapshot out while the page is on its way to the disk. Nil once closed.
    package var newestSnapshotID: Int? {
        whileOpen { handle in
            var info = MDB_envinfo()
            mdb_env_info(handle, &info)
            return Int(info.me_last_txnid)
        }
    }

    /// Runs `body` with the descriptor of the data file, which stays open meanwhile and is not to be closed; nil once closed.
    package func withDescriptor<Result>(_ body: (Int32) -> Result?) -> Result? {
        whileOpen { handle in
            var descriptor: mdb_filehandle_t = -1
            return mdb_env_get_fd(handle, &descriptor) == MDB_SUCCESS ? body(descriptor) : nil
        }
    }

    /// Bytes of address space, and bytes of the file up to its last used page. Nil once closed.
    package var sizes: (map: Int, extent: Int)? {
        whileOpen { handle in
            var info = MDB_envinfo()
            var stat = MDB_stat()
            mdb_env_info(handle, &info)
            mdb_env_stat(handle, &stat)
            return (Int(info.me_mapsize), (Int(info.me_last_pgno) + 1) * Int(stat.ms_psize))
        }
    }

    /// Reader slots that are or were in use, and how many there are, over all processes. Nil once closed.
    package var readerSlots: (used: Int, limit: Int)? {
        whileOpen { handle in
            var info = MDB_envinfo()
            mdb_env_info(handle, &info)
            return (Int(info.me_numreaders), Int(info.me_maxreaders))
        }
    }

    /// Frees the reader slots of processes that died (hazard 9). Returns how many there were.
    @discardableResult
    package func clearDeadReaders() -> Int {
        whileOpen { handle in
            var dead: Int32 = 0
            mdb_reader_check(handle, &dead)
            return Int(dead)
        } ?? 0
    }

    /// What all ended reads of this process did together.
    package var readTotals: ReadTotals { pool.totals }

    /// This process's longest-living reader: its age in milliseconds, its snapshot and where it began (hazard 10).
    package var oldestReader: (age: UInt64, snapshotID: Int, origin: ReaderOrigin?)? { pool.oldest() }

    /// How many commits the oldest reader of any process lags behind; nil when nobody reads.
    package var oldestReaderLag: Int? { readers { _ in true }?.oldest?.lag }

    /// Whose reader, of all processes', keeps pages of the most commits ago; nil when none reads anything but the last.
    package var pinningReader: (process: Int32, lag: Int)? {
        readers { _ in true }?.oldest.flatMap { $0.lag > 0 ? $0 : nil }
    }

    /// What readers of other processes hold: how many slots, and how many commits the oldest that reads lags behind, nil
    /// when none does. Nil once closed.
    package var otherReaders: (slots: Int, oldestLag: Int?)? {
        readers { $0 != getpid() }.map { ($0.slots, $0.oldest?.lag) }
    }

    func readers(of isCounted: (pid_t) -> Bool) -> (slots: Int, oldest: (process: pid_t, lag: Int)?)? {
        final class Lines { var texts: [String] = [] }
        let lines = Lines()
        let context = Unmanaged.passUnretained(lines).toOpaque()
        return whileOpen { handle in
            _ = mdb_reader_list(
                handle,
                { text, context in
                    guard let text, let context else { return 0 }
                    Unmanaged<Lines>.fromOpaque(context).takeUnretainedValue().texts.append(String(cString: text))
                    return 0
                }, context)
            // The only account that LMDB gives of other processes' readers is text: "    pid thread txnid", of which the
            // last is "-" between reads.
            let readers = lines.texts.map { $0.split(whereSeparator: \.isWhitespace) }
                .filter { $0.count == 3 && pid_t($0[0]).map(isCounted) == true }
            var info = MDB_envinfo()
            mdb_env_info(handle, &info)
            let reading = readers.compactMap { reader in
                pid_t(reader[0]).flatMap { process in Int(reader[2]).map { (process: process, snapshot: $0) } }
            }
            let oldest = reading.min { $0.snapshot < $1.snapshot }
            return (readers.count, oldest.map { ($0.process, max(0, Int(info.me_last_txnid) - $0.snapshot)) })
        }
    }

    // MARK: Sharing and closing

    /// What the layer above keeps for the environment: made once, shared by all its users, dropped at close.
    package func resident<R: AnyObject & Sendable>(_ make: () throws -> R) rethrows -> R {
        // Called while the environment is being opened, which one thread does at a time: two makers cannot race.
        if let existing = lifecycle.withLock({ $0.resident }) as? R { return existing }
        let made = try make()
        lifecycle.withLock { $0.resident = made }
        return made
    }

    func keep(_ presence: PresenceLock) { lifecycle.withLock { $0.presence = presence } }

    func retainUser() { lifecycle.withLock { $0.users += 1 } }

    /// Says that one of the users will call `close`, perhaps later and on another thread: who opens the file with other
    /// options meanwhile waits for it. Returns at once.
    package func announceClose() { lifecycle.withLock { $0.leaving += 1 } }

    /// Whether all its users have announced that they will close it.
    var isClosing: Bool { lifecycle.withLock { $0.leaving >= $0.users } }

    /// Drops one user; true for the last, which must then call `shutDown`.
    func releaseUser(isAnnounced: Bool) -> Bool {
        lifecycle.withLock { state in
            state.users -= 1
            if isAnnounced { state.leaving -= 1 }
            if state.users > 0 { return false }
            state.closed = true
            return true
        }
    }

    /// Waits for the live transactions, then closes the file.
    func shutDown() {
        // Nobody makes the map anew any more.
        resizing.lock()
        defer { resizing.unlock() }
        pool.close()
        reserve.close()
        writing.withLock {
            // What the weaker durabilities left to the system is written out when the store is closed in good order.
            if options.durability != .full && !options.isReadOnly { mdb_env_sync(handle, 1) }
            mdb_env_close(handle)
        }
        lifecycle.withLock { state in
            state.resident = nil
            state.presence = nil
        }
    }
}
