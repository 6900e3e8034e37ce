// SPDX-License-Identifier: Apache-2.0

/// Rows in the order of their keys, in chunks: a copy shares them, and a change of one row copies its chunk alone.
///
/// A look-up, an insertion and a removal cost O(log n) comparisons and a chunk's moving. Places are counted when they
/// are asked for after a change, which costs as much as there are chunks.
struct RowChunks<T: Sendable>: Sendable {
    struct Row: Sendable {
        /// What `memcmp` orders by: the criteria, then the ID.
        let key: [UInt8]
        let id: [UInt8]
        /// Of the record's bytes: equal ones have the same.
        let version: UInt64
        let object: T
    }

    private static var mostRows: Int { 256 }

    private var chunks: [[Row]] = []
    /// How many rows are before each chunk; empty after a change.
    private var starts: [Int] = []
    private(set) var count = 0

    init() {}

    // MARK: By key

    /// The chunk that has the key, or would have it.
    private func chunk(of key: [UInt8]) -> Int {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if key.isBelow(chunks[middle][0].key) { high = middle } else { low = middle + 1 }
        }
        return max(0, low - 1)
    }

    private func place(of key: [UInt8], in chunk: Int) -> (place: Int, isThere: Bool) {
        let rows = chunks[chunk]
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].key.isBelow(key) { low = middle + 1 } else { high = middle }
        }
        return (low, low < rows.count && rows[low].key == key)
    }

    func row(_ key: [UInt8]) -> Row? {
        if chunks.isEmpty { return nil }
        let chunk = chunk(of: key)
        let (place, isThere) = place(of: key, in: chunk)
        return isThere ? chunks[chunk][place] : nil
    }

    /// Inserts the row, or replaces the one with its key.
    mutating func put(_ row: Row) {
        if chunks.isEmpty {
            chunks = [[row]]
            (starts, count) = ([], 1)
            return
        }
        let number = chunk(of: row.key)
        let (place, isThere) = place(of: row.key, in: number)
        if isThere {
            chunks[number][place] = row
            return
        }
        chunks[number].insert(row, at: place)
        count += 1
        starts = []
        if chunks[number].count > Self.mostRows {
            let half = chunks[number].count / 2
            chunks.insert(Array(chunks[number][half...]), at: number + 1)
            chunks[number].removeLast(chunks[number].count - half)
        }
    }

    /// Adds a row behind all others.
    mutating func append(_ row: Row) {
        if chunks.isEmpty || (chunks.last?.count ?? 0) >= Self.mostRows * 3 / 4 {
            var chunk: [Row] = []
            // The first one may stay small: there may be thousands of such lists.
            if !chunks.isEmpty { chunk.reserveCapacity(Self.mostRows * 3 / 4) }
            chunks.append(chunk)
        }
        chunks[chunks.count - 1].append(row)
        count += 1
        starts = []
    }

    mutating func remove(_ key: [UInt8]) {
        if chunks.isEmpty { return }
        let number = chunk(of: key)
        let (place, isThere) = place(of: key, in: number)
        guard isThere else { return }
        chunks[number].remove(at: place)
        count -= 1
        starts = []
        if chunks[number].isEmpty { chunks.remove(at: number) }
    }

    var last: Row? { chunks.last?.last }

    // MARK: By place

    /// Counts the places, so that they can be asked for.
    mutating func countPlaces() {
        guard starts.isEmpty else { return }
        starts.reserveCapacity(chunks.count)
        var before = 0
        for chunk in chunks {
            starts.append(before)
            before += chunk.count
        }
    }

    /// Where the row with this key is. The places must have been counted.
    func place(of key: [UInt8]) -> Int? {
        if chunks.isEmpty { return nil }
        let chunk = chunk(of: key)
        let (place, isThere) = place(of: key, in: chunk)
        return isThere ? starts[chunk] + place : nil
    }

    /// The row at a place. The places must have been counted.
    subscript(_ place: Int) -> Row {
        let (chunk, rest) = position(place)
        return chunks[chunk][rest]
    }

    func position(_ place: Int) -> (chunk: Int, place: Int) {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= place { low = middle + 1 } else { high = middle }
        }
        return (low - 1, place - starts[low - 1])
    }

    func forEach(_ places: Range<Int>, _ body: (Int, Row) -> Void) {
        if places.isEmpty { return }
        var (chunk, rest) = position(places.lowerBound)
        var place = places.lowerBound
        while place < places.upperBound {
            body(place, chunks[chunk][rest])
            place += 1
            rest += 1
            if rest == chunks[chunk].count { (chunk, rest) = (chunk + 1, 0) }
        }
    }

    /// A chunk's rows, for those who go through all of them.
    func rows(_ chunk: Int) -> [Row] { chunk < chunks.count ? chunks[chunk] : [] }
}

extension [UInt8] {
    @inline(__always)
    func isBelow(_ other: [UInt8]) -> Bool {
        withUnsafeBytes { left in other.withUnsafeBytes { StoredOrder.of(left, $0) == .less } }
    }
}
