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
/// A snapshot's pages are not written while it is the newest or somebody reads it, the map stays at its address while the
/// environment is open, and no two snapshots have one number: a location found in a snapshot holds in every transaction
/// that reads the same one. An entry of another snapshot is simply not the one looked for, so nothing has to be cleared
/// when there is a commit.
///
/// One for each pooled reader, used by the thread that has the reader; 128 KiB of address space, of which the system gives
/// memory to the pages that are used.
struct LocationCache {
    private struct Entry {
        let key: UInt64
        let snapshot: Int
        let start: UnsafeRawPointer?
        let count: UInt32
        let database: UInt32
    }

    private let entries: UnsafeMutablePointer<Entry>
    private static var sizeBits: Int { 12 }

    /// Nil when there is no memory for it.
    init?() {
        // Zeroed: an entry without a start is nobody's.
        guard let memory = calloc(1 << Self.sizeBits, MemoryLayout<Entry>.stride) else { return nil }
        entries = memory.bindMemory(to: Entry.self, capacity: 1 << Self.sizeBits)
    }

    func deallocate() { free(entries) }

    @inline(__always)
    private func slot(_ key: UInt64) -> UnsafeMutablePointer<Entry> {
        entries + Int(truncatingIfNeeded: (key.byteSwapped &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - Self.sizeBits))
    }

    @inline(__always)
    func find(_ key: UInt64, database: UInt32, snapshot: Int) -> UnsafeRawBufferPointer? {
        let slot = slot(key)
        guard slot.pointee.key == key, slot.pointee.snapshot == snapshot, slot.pointee.database == database,
            let start = slot.pointee.start
        else { return nil }
        return UnsafeRawBufferPointer(start: start, count: Int(slot.pointee.count))
    }

    @inline(__always)
    func add(_ key: UInt64, database: UInt32, snapshot: Int, _ value: UnsafeRawBufferPointer) {
        guard let count = UInt32(exactly: value.count) else { return }
        slot(key).pointee = Entry(
            key: key, snapshot: snapshot, start: value.baseAddress, count: count, database: database)
    }
}
