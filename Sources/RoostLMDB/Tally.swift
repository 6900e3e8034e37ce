// SPDX-License-Identifier: Apache-2.0

/// What one transaction has read so far, in plain memory that its cursors and look-ups share: a count for each role, and one
/// of what was looked for in vain or in groups. As everything that is read passes here, here it is noticed that nobody wants it any more.
struct Tally {
    private let counts: UnsafeMutablePointer<Int>
    /// The place after the roles'.
    private static var others: Int { Database.Role.count }

    init() {
        counts = .allocate(capacity: Database.Role.count + 1)
        reset()
    }

    func reset() { counts.initialize(repeating: 0, count: Database.Role.count + 1) }
    func deallocate() { counts.deallocate() }

    var counters: Counters {
        var counters = Counters()
        counters.recordsRead = counts[Database.Role.records.rawValue]
        counters.entriesVisited = counts[Database.Role.index.rawValue]
        return counters
    }

    /// Counts an entry or a record of so many bytes. Throws `LMDBError.cancelled` when the read was cancelled: looked at
    /// every so many times, and for each large record, which alone may take as long to decode as many small ones.
    @inline(__always)
    func add(_ role: Database.Role, bytes: Int) throws(LMDBError) {
        let count = counts[role.rawValue] &+ 1
        counts[role.rawValue] = count
        if count & Self.mask == 0 || bytes > Self.largeRecord { try Self.verifyWanted() }
    }

    /// The same for a group that was looked up together, not all of which need be there.
    @inline(__always)
    func add(_ role: Database.Role, _ found: Int, of tried: Int, bytes: Int) throws(LMDBError) {
        counts[role.rawValue] &+= found
        let before = counts[Self.others]
        counts[Self.others] = before &+ tried
        if before & ~Self.mask != (before &+ tried) & ~Self.mask || bytes > Self.largeRecord { try Self.verifyWanted() }
    }

    @inline(__always)
    func addMiss() throws(LMDBError) {
        let count = counts[Self.others] &+ 1
        counts[Self.others] = count
        if count & Self.mask == 0 { try Self.verifyWanted() }
    }

    /// 32 small records take 2 to 50 microseconds, with Foundation's own evaluation of a predicate included.
    private static var mask: Int { 31 }
    private static var largeRecord: Int { 4_096 }

    @inline(never)
    private static func verifyWanted() throws(LMDBError) {
        if Cancellation.isRequested { throw .cancelled }
    }
}
