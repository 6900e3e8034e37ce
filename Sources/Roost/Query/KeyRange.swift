// SPDX-License-Identifier: Apache-2.0

/// A contiguous run of keys: from `lower`, included, to `upper`, excluded. An empty `lower` is the start, nil `upper` the
/// end.
struct KeyRange: Equatable, Sendable {
    var lower: [UInt8]
    var upper: [UInt8]?

    static let all = KeyRange(lower: [], upper: nil)

    /// Every key that starts with `prefix`.
    init(prefix: [UInt8]) {
        lower = prefix
        upper = Self.successor(ofPrefix: prefix)
    }

    init(lower: [UInt8], upper: [UInt8]?) {
        self.lower = lower
        self.upper = upper
    }

    /// The bounds in memory, for a loop that compares many keys with them.
    func withUnsafeBounds<Result>(
        _ body: (_ lower: UnsafeRawBufferPointer, _ upper: UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        try lower.withUnsafeBytes { lower in
            guard let upper else { return try body(lower, nil) }
            return try upper.withUnsafeBytes { try body(lower, $0) }
        }
    }

    var isEmpty: Bool {
        guard let upper else { return false }
        return !lower.lexicographicallyPrecedes(upper)
    }

    /// The least key above all keys that start with `prefix`; nil when there is none.
    static func successor(ofPrefix prefix: [UInt8]) -> [UInt8]? {
        var key = prefix
        while let last = key.last {
            if last < 0xFF {
                key[key.count - 1] = last + 1
                return key
            }
            key.removeLast()
        }
        return nil
    }

    func intersection(_ other: KeyRange) -> KeyRange {
        let low = lower.lexicographicallyPrecedes(other.lower) ? other.lower : lower
        let high: [UInt8]?
        switch (upper, other.upper) {
        case (nil, let bound), (let bound, nil): high = bound
        case (let a?, let b?): high = a.lexicographicallyPrecedes(b) ? a : b
        }
        return KeyRange(lower: low, upper: high)
    }

    /// Whether a key that is not below `lower` lies in the range.
    @inline(__always)
    func contains(below key: UnsafeRawBufferPointer) -> Bool {
        guard let upper else { return true }
        return upper.withUnsafeBytes { StoredOrder.of(key, $0) == .less }
    }

    /// Whether a key that is below `upper` lies in the range.
    @inline(__always)
    func contains(above key: UnsafeRawBufferPointer) -> Bool {
        lower.withUnsafeBytes { StoredOrder.of(key, $0) != .less }
    }
}
