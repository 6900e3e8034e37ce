// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// Some keys that are looked up together, and the records that were found: memory for one run, used again for the next.
@usableFromInline
final class KeyRun {
    private static var capacity: Int { 32 }

    /// The keys' bytes, `maximumIDKeyLength` for each.
    private let bytes: UnsafeMutableRawPointer
    private let keys: UnsafeMutablePointer<UnsafeRawBufferPointer>
    private let records: UnsafeMutablePointer<UnsafeRawBufferPointer>
    @usableFromInline private(set) var count = 0

    @usableFromInline
    init() {
        bytes = .allocate(byteCount: Self.capacity * maximumIDKeyLength, alignment: 8)
        keys = .allocate(capacity: Self.capacity)
        records = .allocate(capacity: Self.capacity)
    }

    deinit {
        bytes.deallocate()
        keys.deallocate()
        records.deallocate()
    }

    @usableFromInline var isFull: Bool { count == Self.capacity }

    /// Copies the key, which `withKey` has kept within `maximumIDKeyLength`.
    @usableFromInline
    func append(_ key: UnsafeRawBufferPointer) {
        let start = bytes + count * maximumIDKeyLength
        if let source = key.baseAddress { start.copyMemory(from: source, byteCount: key.count) }
        (keys + count).initialize(to: UnsafeRawBufferPointer(start: start, count: key.count))
        count += 1
    }

    @usableFromInline func removeAll() { count = 0 }

    @usableFromInline
    func find(_ context: borrowing SnapshotContext, _ handle: StoredEntity.Handle) throws {
        try context.records(handle, UnsafeBufferPointer(start: keys, count: count), records)
    }

    @usableFromInline func key(_ index: Int) -> UnsafeRawBufferPointer { keys[index] }

    /// Nil where there is none.
    @usableFromInline
    func record(_ index: Int) -> UnsafeRawBufferPointer? { records[index].baseAddress == nil ? nil : records[index] }
}
