// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A set of byte strings, each with the position at which it was added: open addressing over one flat buffer, so that a
/// bulk write pays a hash and a copy for each object and no allocation.
struct KeyTable {
    private var slots: [Int32] = Array(repeating: -1, count: 64)
    private(set) var ends: [Int] = []
    private var bytes: [UInt8] = []

    var count: Int { ends.count }
    /// The memory that it takes.
    var byteCount: Int {
        bytes.count + ends.count * MemoryLayout<Int>.stride + slots.count * MemoryLayout<Int32>.stride
    }

    /// The position of `key`, and whether this call added it.
    mutating func insert(_ key: UnsafeRawBufferPointer) -> (position: Int, isNew: Bool) {
        if (ends.count + 1) * 2 > slots.count { grow() }
        var slot = Self.hash(key) & (slots.count - 1)
        while slots[slot] >= 0 {
            let position = Int(slots[slot])
            if matches(position, key) { return (position, false) }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = Int32(ends.count)
        bytes.append(contentsOf: key)
        ends.append(bytes.count)
        return (ends.count - 1, true)
    }

    /// The position of `key`, if it is there.
    func position(of key: UnsafeRawBufferPointer) -> Int? {
        var slot = Self.hash(key) & (slots.count - 1)
        while slots[slot] >= 0 {
            let position = Int(slots[slot])
            if matches(position, key) { return position }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    func withKey<Result>(
        _ position: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let start = position == 0 ? 0 : ends[position - 1]
        let end = ends[position]
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
    }

    private func matches(_ position: Int, _ key: UnsafeRawBufferPointer) -> Bool {
        withKey(position) { known in
            guard known.count == key.count, let left = known.baseAddress, let right = key.baseAddress else {
                return known.count == key.count
            }
            return memcmp(left, right, key.count) == 0
        }
    }

    private mutating func grow() {
        var larger = [Int32](repeating: -1, count: slots.count * 2)
        for position in 0..<ends.count {
            var slot = withKey(position, Self.hash) & (larger.count - 1)
            while larger[slot] >= 0 { slot = (slot + 1) & (larger.count - 1) }
            larger[slot] = Int32(position)
        }
        slots = larger
    }

    /// Multiply and fold, eight bytes a step.
    private static func hash(_ key: UnsafeRawBufferPointer) -> Int {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(key.count)
        var offset = 0
        while offset + 8 <= key.count {
            state = mix(state ^ key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var tail: UInt64 = 0
        while offset < key.count {
            tail = tail << 8 | UInt64(key[offset])
            offset += 1
        }
        return Int(truncatingIfNeeded: mix(state ^ tail) >> 1)
    }

    @inline(__always)
    private static func mix(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}
