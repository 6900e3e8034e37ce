// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// A walk over the entries of a database: over ranges of keys that ascend and do not overlap, from either end.
///
/// It is the one loop over cursors: scans, estimates, counts and chunks differ in what they do with an entry. A walk is
/// carried out once, from its start to the first error, and nothing is read behind an error (hazard 23).
struct RangeWalker {
    let database: Database
    let ranges: [KeyRange]
    var isReversed = false
    /// The key behind which the walk goes on, in its direction.
    var after: [UInt8]?
    /// Entries that are passed before the first is handed out; they cost a step each.
    var skip = 0

    /// Calls `body` with key and value of each entry, until it returns false. The buffers are valid until the next write of
    /// the transaction, and `body` must not write (hazard 22).
    @inline(__always)
    func forEach(
        in transaction: Transaction,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var cursor = try transaction.cursor(database)
        var toSkip = skip
        // After a range: whether the cursor isFound on the entry behind it. Then it need not be sought where the next
        // range begins, unless that is farther.
        var isFound = false
        var isOver = false
        for number in ranges.indices where !isOver {
            let range = remaining(ranges[isReversed ? ranges.count - 1 - number : number])
            if range.isEmpty { continue }
            try range.withUnsafeBounds { lower, upper in
                if isReversed {
                    if let upper {
                        if !isFound || StoredOrder.of(cursor.key, upper) != .less {
                            isFound = try cursor.seek(below: upper)
                        }
                    } else {
                        isFound = try cursor.last()
                    }
                } else if !isFound || StoredOrder.of(cursor.key, lower) == .less {
                    isFound = try cursor.seek(atLeast: lower)
                }
                while isFound {
                    let key = cursor.key
                    if isReversed {
                        if StoredOrder.of(key, lower) == .less { return }
                    } else if let upper, StoredOrder.of(key, upper) != .less {
                        return
                    }
                    if toSkip > 0 {
                        toSkip -= 1
                    } else if try !body(key, cursor.value) {
                        isOver = true
                        return
                    }
                    isFound = try isReversed ? cursor.previous() : cursor.next()
                }
                // The end of the database: the other ranges are behind it.
                isOver = true
            }
        }
    }

    /// Every entry of a database, in ascending order: with nothing to compare and nothing to leave out, each costs an eighth
    /// less than in a range.
    static func forEachEntry(
        of database: Database, in transaction: Transaction,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var cursor = try transaction.cursor(database)
        try cursor.forEach(body)
    }

    /// How many entries there are, counted up to `most`.
    func count(in transaction: Transaction, upTo most: Int) throws -> Int {
        var count = 0
        if most <= 0 { return 0 }
        try forEach(in: transaction) { _, _ in
            count += 1
            return count < most
        }
        return count
    }

    /// What is left of a range behind `after`.
    private func remaining(_ range: KeyRange) -> KeyRange {
        guard let after else { return range }
        return range.intersection(
            isReversed ? KeyRange(lower: [], upper: after) : KeyRange(lower: after + [0], upper: nil))
    }
}
