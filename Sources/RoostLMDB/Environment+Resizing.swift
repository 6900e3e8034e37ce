// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB
import Foundation

/// The file has grown beyond this process's map, because another process has a larger one: LMDB then refuses every new
/// transaction until the map is made anew, which no live transaction of this process survives (hazards 5, 6, 43).
extension Environment {
    /// How long, in milliseconds, the live transactions are waited for. LMDB begins none while the map is too small, so a read
    /// that lasts longer than this beside a peer that has outgrown the map makes others fail.
    private static let patience: UInt64 = 10_000

    /// Takes over the file's own map size. Called when a transaction could not begin for it; who calls holds none of this
    /// environment's locks, nor one that a transaction of it may wait for, and is in no transaction of it. New readers wait
    /// meanwhile, the live ones and the writer are waited for.
    ///
    /// Throws `MDB_MAP_RESIZED` when they do not end, and when called inside a read: it would wait for itself. Throws
    /// `LMDBError.cancelled` soon after whoever waits was cancelled; then the next one who wants to begin does it.
    package func followMapSize() throws(LMDBError) {
        try remap(until: monotonicMilliseconds() + Self.patience) { sizes in
            // Somebody else may have done it while we waited.
            sizes.extent > sizes.map ? (max(sizeInFile, sizes.extent), least: sizes.extent) : nil
        }
    }

    /// Makes the map anew, as large as `size` says once nobody uses it any more: so many bytes, or as many as the system
    /// grants, but not fewer than the least. Nothing is done where it says nil.
    func remap(
        until deadline: UInt64, to size: ((map: Int, extent: Int)) -> (Int, least: Int)?
    ) throws(LMDBError) {
        let refusal = failure(MDB_MAP_RESIZED, "mdb_txn_begin")
        if isBusyOnThisThread { throw refusal }
        guard try Self.lock(resizing, until: deadline) else { throw refusal }
        defer { resizing.unlock() }
        guard let sizes, size(sizes) != nil else { return }
        // The writer last: a write inside a read is waiting for it, and ends by being refused.
        defer { for pool in pools { pool.resume() } }
        for pool in pools { guard try pool.pause(until: deadline) else { throw refusal } }
        guard try Self.lock(writing, until: deadline) else { throw refusal }
        defer { writing.unlock() }
        guard try Self.lock(opening, until: deadline) else { throw refusal }
        defer { opening.unlock() }
        guard let sizes = self.sizes, let (wanted, least) = size(sizes) else { return }
        try resize(to: wanted, least: least)
    }

    /// By the clock that nobody sets. `NSLock` would wait by the other one.
    private static func lock(_ lock: NSLock, until deadline: UInt64) throws(LMDBError) -> Bool {
        while !lock.try() {
            if Cancellation.isRequested { throw .cancelled }
            if monotonicMilliseconds() > deadline { return false }
            usleep(500)
        }
        return true
    }

    private func resize(to wanted: Int, least: Int) throws(LMDBError) {
        var size = wanted
        // A map that is refused would leave LMDB with none: the address space is asked for beforehand.
        while !isGranted(size) {
            if size / 2 < least { throw failure(ENOMEM, "mdb_env_set_mapsize") }
            size /= 2
        }
        let code = whileOpen { handle in mdb_env_set_mapsize(handle, size) } ?? MDB_SUCCESS
        try check(code, "mdb_env_set_mapsize")
    }

    /// The greatest size that any process has mapped the file with, from the meta pages (`mm_mapsize`).
    private var sizeInFile: Int {
        var descriptor: mdb_filehandle_t = -1
        var stat = MDB_stat()
        guard mdb_env_get_fd(handle, &descriptor) == MDB_SUCCESS, mdb_env_stat(handle, &stat) == MDB_SUCCESS else {
            return 0
        }
        // Behind the page's header, magic, version and address.
        let offset = PageTree.headerSize + 16
        return [0, Int(stat.ms_psize)].reduce(0) { greatest, page in
            var size: UInt64 = 0
            let count = pread(descriptor, &size, 8, off_t(page + offset))
            return count == 8 ? max(greatest, Int(clamping: size)) : greatest
        }
    }

    private func isGranted(_ size: Int) -> Bool {
        let area = mmap(nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let area, area != MAP_FAILED else { return false }
        munmap(area, size)
        return true
    }
}
