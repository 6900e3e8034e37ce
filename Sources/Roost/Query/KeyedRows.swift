// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// A row that is being sorted: where its key is, and where its record is in the map, if that has been looked up. Nothing is
/// written in the transaction until the rows have been handed out, so that the map stays as it is.
private struct Entry {
    /// The eight bytes behind what all keys have in common, as a number of their order.
    var word: UInt64 = 0
    var start: Int
    let count: Int
    /// Nil where it has not been looked up.
    let record: UnsafeRawPointer?
    /// LMDB's values end at 4 GiB.
    let recordCount: UInt32
    let idCount: UInt32
}

/// Rows under sort keys that `memcmp` compares: the criteria's values, then the ID, turned around where they descend. All
/// keys stand in one piece of memory. With a limit at most twice as many rows as are wanted are kept.
struct KeyedRows {
    private let order: RequestedOrder
    private let layout: RecordLayout
    /// The offset counted in.
    private let limit: Int?
    private var keys = KeyBytes()
    private var entries: [Entry] = []
    /// With as many rows as are wanted, the key of the last of them: a row that does not precede it need not be kept.
    private var threshold: [UInt8]?

    init(_ order: RequestedOrder, _ layout: RecordLayout, limit: Int?) {
        self.order = order
        self.layout = layout
        self.limit = limit
    }

    mutating func add(_ view: RecordView) throws {
        let start = keys.count
        try order.appendCriteria(of: view, to: &keys)
        try add(id: view.key, record: view.record, keyStart: start)
    }

    /// A row of which only the ID is known, for an order that is the ID's.
    mutating func add(id: UnsafeRawBufferPointer) throws {
        try add(id: id, record: UnsafeRawBufferPointer(start: nil, count: 0), keyStart: keys.count)
    }

    private mutating func add(id: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer, keyStart start: Int) throws {
        order.append(id: id, to: &keys)
        if let threshold {
            let isWanted = keys.withUnsafeBytes { bytes in
                threshold.withUnsafeBytes {
                    StoredOrder.of(UnsafeRawBufferPointer(rebasing: bytes[start...]), $0) == .less
                }
            }
            if !isWanted { return keys.truncate(to: start) }
        }
        entries.append(
            Entry(
                start: start, count: keys.count - start, record: record.baseAddress,
                recordCount: UInt32(truncatingIfNeeded: record.count), idCount: UInt32(truncatingIfNeeded: id.count)))
        if let limit, entries.count >= max(2 * limit, 64) { try cut(to: limit) }
    }

    /// Drops what is not among the first `limit` rows.
    private mutating func cut(to limit: Int) throws {
        try sort()
        entries.removeLast(entries.count - limit)
        var kept = KeyBytes()
        keys.withUnsafeBytes { bytes in
            for index in entries.indices {
                let (start, count) = (entries[index].start, entries[index].count)
                entries[index].start = kept.count
                kept.append(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
            }
        }
        keys = kept
        threshold = entries.last.map { Array(keys.bytes[$0.start...]) }
    }

    private mutating func sort() throws {
        var probe = CancellationProbe()
        try keys.withUnsafeBytes { bytes in
            func key(_ entry: Entry) -> UnsafeRawBufferPointer {
                UnsafeRawBufferPointer(rebasing: bytes[entry.start..<entry.start + entry.count])
            }
            // Names of one pattern, missing values and small numbers begin alike.
            guard let first = entries.first.map(key) else { return }
            var shared = first.count
            for entry in entries { shared = Self.sharedPrefix(first, key(entry), atMost: shared) }
            for index in entries.indices {
                entries[index].word = Self.word(key(entries[index]), from: shared)
            }
            try entries.sort { a, b in
                try probe.step()
                return a.word != b.word ? a.word < b.word : StoredOrder.of(key(a), key(b)) == .less
            }
        }
    }

    private static func sharedPrefix(
        _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, atMost most: Int
    ) -> Int {
        let most = min(most, a.count, b.count)
        var shared = 0
        while shared < most, a[shared] == b[shared] { shared += 1 }
        return shared
    }

    private static func word(_ key: UnsafeRawBufferPointer, from start: Int) -> UInt64 {
        if start + 8 <= key.count {
            return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        }
        var word: UInt64 = 0
        for offset in start..<start + 8 { word = word << 8 | UInt64(offset < key.count ? key[offset] : 0) }
        return word
    }

    /// The rows in order, without the first `offset`.
    consuming func sorted(offset: Int) throws -> SortedRows {
        try sort()
        var rows = SortedRows(width: layout.idKeyWidth)
        var id = KeyBytes()
        keys.withUnsafeBytes { bytes in
            for entry in entries.prefix(limit ?? Int.max).dropFirst(offset) {
                let end = entry.start + entry.count
                id.removeAll()
                id.append(UnsafeRawBufferPointer(rebasing: bytes[(end - Int(entry.idCount))..<end]))
                if order.idDescending { id.invert(from: 0) }
                let record = entry.record.map { UnsafeRawBufferPointer(start: $0, count: Int(entry.recordCount)) }
                id.withUnsafeBytes { rows.append($0, record) }
            }
        }
        return rows
    }
}

/// Rows in their order. The records are where they are in the map until the next write of the transaction.
struct SortedRows {
    private(set) var keys: KeyList
    /// Nil where they have not been looked up.
    private(set) var records: [UnsafeRawBufferPointer]?

    init(width: Int) { keys = KeyList(width: width) }

    /// Either every row has its record or none.
    mutating func append(_ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer?) {
        keys.append(key)
        guard let record else { return }
        if records == nil { records = [] }
        records?.append(record)
    }
}

/// Notices in a long sort that nobody wants it any more.
struct CancellationProbe {
    private var steps = 0

    @inline(__always)
    mutating func step() throws(LMDBError) {
        steps &+= 1
        // 256 comparisons, of the slow kind too, take less than a millisecond.
        if steps & 255 == 0, Cancellation.isRequested { throw .cancelled }
    }
}
