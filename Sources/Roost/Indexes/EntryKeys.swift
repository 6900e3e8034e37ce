// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The keys of one object's entries in one index, each with whether it is exact. One flat buffer, kept from object to
/// object: an array of 100,000 elements has as many keys.
struct EntryKeys {
    private struct Entry {
        /// The first eight bytes, big-endian, which decide most comparisons.
        let head: UInt64
        let start: Int
        let count: Int
        let isExact: Bool
    }

    private var bytes = KeyBytes()
    private var entries: [Entry] = []
    private var isSorted = true

    var count: Int { entries.count }

    mutating func removeAll() {
        bytes.removeAll()
        entries.removeAll(keepingCapacity: true)
        isSorted = true
    }

    /// Adds the key that `write` appends; it returns whether the key is exact.
    @inline(__always)
    mutating func append(_ write: (inout KeyBytes) throws(RecordFailure) -> Bool) throws(RecordFailure) {
        let start = bytes.count
        let isExact = try write(&bytes)
        add(from: start, isExact: isExact)
    }

    mutating func append(_ key: UnsafeRawBufferPointer, isExact: Bool) {
        let start = bytes.count
        bytes.append(key)
        add(from: start, isExact: isExact)
    }

    private mutating func add(from start: Int, isExact: Bool) {
        let count = bytes.count - start
        let head = bytes.withUnsafeBytes { all -> UInt64 in
            if count >= 8 { return UInt64(bigEndian: all.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
            var head: UInt64 = 0
            for offset in 0..<count { head |= UInt64(all[start + offset]) << UInt64(56 - 8 * offset) }
            return head
        }
        if !entries.isEmpty { isSorted = false }
        entries.append(Entry(head: head, start: start, count: count, isExact: isExact))
    }

    mutating func sort() {
        if isSorted { return }
        isSorted = true
        var sorted: [Entry] = []
        swap(&sorted, &entries)
        bytes.withUnsafeBytes { all in sorted.sort { Self.order($0, all, $1, all) == .less } }
        entries = sorted
    }

    /// Calls `body` with each key that `other` does not have, once and in order. Both are sorted.
    func forEach(notIn other: EntryKeys, _ body: (UnsafeRawBufferPointer, _ isExact: Bool) throws -> Void) rethrows {
        try bytes.withUnsafeBytes { mine in
            try other.bytes.withUnsafeBytes { others in
                var next = 0
                for (position, entry) in entries.enumerated() {
                    // Equal elements have one entry.
                    if position > 0, Self.order(entries[position - 1], mine, entry, mine) == .equal { continue }
                    var isThere = false
                    search: while next < other.entries.count {
                        switch Self.order(other.entries[next], others, entry, mine) {
                        case .less: next += 1
                        case .equal:
                            isThere = true
                            break search
                        default: break search
                        }
                    }
                    if !isThere { try body(Self.key(entry, mine), entry.isExact) }
                }
            }
        }
    }

    func contains(_ wanted: UnsafeRawBufferPointer) -> Bool {
        bytes.withUnsafeBytes { bytes in
            entries.contains { StoredOrder.of(Self.key($0, bytes), wanted) == .equal }
        }
    }

    @inline(__always)
    private static func key(_ entry: Entry, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[entry.start..<entry.start + entry.count])
    }

    @inline(__always)
    private static func order(
        _ a: Entry, _ aBytes: UnsafeRawBufferPointer, _ b: Entry, _ bBytes: UnsafeRawBufferPointer
    ) -> StoredOrder {
        if a.head != b.head { return a.head < b.head ? .less : .greater }
        return StoredOrder.of(key(a, aBytes), key(b, bBytes))
    }
}
