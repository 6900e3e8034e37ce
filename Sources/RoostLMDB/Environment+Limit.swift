// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB

/// How large a store may become (hazard 4). The limit is Roost's own: bytes of the pages that are in use once a transaction
/// is committed. LMDB's map ends behind it. Who changes a page needs a new one before the old one is free, so without that
/// reserve nothing could be deleted from a full store; only transactions that stored no object may enter it.
extension Environment {
    /// What a transaction would have left in use, and what was.
    package struct Shortage: Sendable {
        package let used: Int
        package let needed: Int
        package let limit: Int
    }

    /// A map is a multiple of 64 KiB, so that any page size divides it (hazard 28).
    static let mapUnit = 1 << 16

    static func reserve(behind limit: Int) -> Int { max(1 << 20, limit / 16) }

    static func mapSize(for limit: Int) -> Int { mapSize(atLeast: limit + reserve(behind: limit)) }

    private static func mapSize(atLeast size: Int) -> Int { (size + mapUnit - 1) / mapUnit * mapUnit }

    /// Where no limit was given, or the system grants a smaller map than it needs, the map's size leads to it.
    private func limit(ofMap map: Int) -> Int { min(options.maximumSize ?? .max, map - map / 17) }

    /// Bytes of pages that are in use at the last commit, how many may be, and how many the map has behind the file's last
    /// page. Nil once closed. Reads, about 100 ns for each database, also inside a transaction that has failed.
    package var space: (used: Int, limit: Int, left: Int)? {
        guard let sizes, let used = try? readAside({ usedBytes(in: $0.handle) }) else { return nil }
        return (used, limit(ofMap: sizes.map), max(0, sizes.map - sizes.extent))
    }

    /// The meta pages and those of every database, the list of free pages included as the last commit left it.
    private func usedBytes(in transaction: OpaquePointer) -> Int {
        var pages = 2
        var pageSize = 0
        for database in 0..<handleLimit.load(ordering: .acquiring) {
            var stat = MDB_stat()
            // A number that is no open database's.
            guard mdb_stat(transaction, database, &stat) == MDB_SUCCESS else { continue }
            pages += Int(stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages)
            pageSize = Int(stat.ms_psize)
        }
        return pages * pageSize
    }

    /// Why `transaction` may not be committed; nil when it may. Counts pages only where the file is near the limit.
    func shortage(of transaction: Transaction) -> Shortage? {
        guard transaction.isHeldToLimit, transaction.greatestGrowth > 0, let sizes else { return nil }
        let limit = limit(ofMap: sizes.map)
        if sizes.extent &+ transaction.greatestGrowth <= limit { return nil }
        let needed = usedBytes(in: transaction.handle)
        if needed <= limit { return nil }
        return Shortage(used: space?.used ?? sizes.extent, needed: needed, limit: limit)
    }

    /// Deletions go on at the end of the file where the pages that they gave back are not free yet: nobody may use those of
    /// the last transaction, or of what somebody still reads. Called outside of transactions, when one that only deleted has
    /// found the map full. Where reads do not end within a moment the map stays as it is.
    func makeRoom() {
        try? remap(until: monotonicMilliseconds() + 200) { sizes in
            let wanted = Self.mapSize(atLeast: sizes.extent + Self.reserve(behind: limit(ofMap: sizes.map)))
            return wanted > sizes.map ? (wanted, least: sizes.extent) : nil
        }
    }
}
