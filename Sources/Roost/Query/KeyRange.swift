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

    var isEmpty: Bool {
        guard let upper else { return false }
        return !lower.lexicographicallyPrecedes(upper)
    }

    /// The least key above all keys that start with `prefix`; nil when there is none.
    static func successor(ofPrefix prefix: [UInt8]) -> [UInt8]? {
        var key = prefix
        while let last = key.popLast() {
            if last < 0xFF { return key + [last + 1] }
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
}
