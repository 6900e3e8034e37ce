// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where a reader found values under keys of eight bytes, so that it finds them again in the same snapshot without a
/// descent through the tree: objects that are asked for again and again between two commits cost one load each.
///
/// A snapshot's pages are not written while it is the newest or somebody reads it, the map stays at its address until it
/// is made anew (`removeAll`), and no two snapshots have one number: a location found in a snapshot holds in every transaction
/// that reads the same one. An entry of another snapshot is simply not the one looked for, so nothing has to be cleared
/// when there is a commit.
///
/// Where keys do not come again, looking for them here would be a wait for the memory and no more. So the cache serves a
/// sixteenth of all keys until one is found, and every key for as long as enough of them are.
///
/// One for each pooled reader, used by the thread that has the reader; 128 KiB of address space, of which the system gives
/// memory to the pages that are used.
struct LocationCache {
    fileprivate struct Entry {
        let key: UInt64
        let snapshot: Int
        let start: UnsafeRawPointer?
        let count: UInt32
        let database: UInt32
    }

    /// How a key stands to the cache.
    struct Place {
        fileprivate let entry: UnsafeMutablePointer<Entry>
        fileprivate let key: UInt64
        fileprivate let database: UInt32
        fileprivate let snapshot: Int
    }

    private let entries: UnsafeMutablePointer<Entry>
    /// While positive, every key is served. A hit is worth as much as eight misses cost.
    private let credit: UnsafeMutablePointer<Int>

    private static var sizeBits: Int { 12 }
    private static var sampleBits: Int { 4 }
    private static var hitCredit: Int { 8 }
    private static var maximumCredit: Int { 1 << 12 }

    /// Nil when there is no memory for it.
    init?() {
        // Zeroed: an entry without a start is nobody's.
        guard let memory = calloc(1 << Self.sizeBits, MemoryLayout<Entry>.stride) else { return nil }
        entries = memory.bindMemory(to: Entry.self, capacity: 1 << Self.sizeBits)
        credit = .allocate(capacity: 1)
        credit.initialize(to: 0)
    }

    func deallocate() {
        free(entries)
        credit.deallocate()
    }

    func removeAll() { memset(entries, 0, MemoryLayout<Entry>.stride << Self.sizeBits) }

    /// Nil when the key is not served.
    @inline(__always)
    func place(_ key: UnsafeRawBufferPointer, database: UInt32, snapshot: Int) -> Place? {
        guard key.count == MemoryLayout<UInt64>.size else { return nil }
        let word = key.loadUnaligned(as: UInt64.self)
        // IDs differ in their last bytes; the product's first bits depend on all.
        let hash = word.byteSwapped &* 0x9E37_79B9_7F4A_7C15
        let sample = (hash << UInt64(Self.sizeBits)) >> UInt64(64 - Self.sampleBits)
        guard credit.pointee > 0 || sample == 0 else { return nil }
        let entry = entries + Int(truncatingIfNeeded: hash >> UInt64(64 - Self.sizeBits))
        return Place(entry: entry, key: word, database: database, snapshot: snapshot)
    }

    @inline(__always)
    func find(_ place: Place) -> UnsafeRawBufferPointer? {
        let entry = place.entry
        guard entry.pointee.key == place.key, entry.pointee.snapshot == place.snapshot,
            entry.pointee.database == place.database, let start = entry.pointee.start
        else {
            if credit.pointee > 0 { credit.pointee &-= 1 }
            return nil
        }
        credit.pointee = min(credit.pointee &+ Self.hitCredit, Self.maximumCredit)
        return UnsafeRawBufferPointer(start: start, count: Int(entry.pointee.count))
    }

    @inline(__always)
    func add(_ value: UnsafeRawBufferPointer, at place: Place) {
        guard let count = UInt32(exactly: value.count) else { return }
        place.entry.pointee = Entry(
            key: place.key, snapshot: place.snapshot, start: value.baseAddress, count: count, database: place.database)
    }
}
