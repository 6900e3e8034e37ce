// SPDX-License-Identifier: Apache-2.0

/// Which of many half-open ranges of keys hold a given key, without looking at all of them.
///
/// Ranges lie in an array, sorted by their lower bounds and read as a balanced tree, each place with the greatest upper bound
/// below it: finding the k ranges that hold a key costs O(k + log n) where they do not nest deeply. Those that were added
/// since the array was made are looked at one by one, at most an eighth of it; adding and removing cost O(log n) on average.
struct IntervalIndex {
    struct Interval {
        /// Nil is below every key.
        var lower: [UInt8]?
        /// Not part of the range; nil is above every key.
        var upper: [UInt8]?
        /// Whose it is. Never used again once it was removed.
        var owner: Int
    }

    private var sorted: [Interval] = []
    /// By place in `sorted`: the greatest upper bound of the part of the array whose middle it is.
    private var greatest: [[UInt8]?] = []
    private var recent: [Interval] = []
    private var removed: Set<Int> = []
    private(set) var count = 0

    private static let leastRecent = 32

    var isEmpty: Bool { count == 0 }

    mutating func insert(_ interval: Interval) {
        recent.append(interval)
        count += 1
        if recent.count > max(Self.leastRecent, sorted.count / 8) { rebuild() }
    }

    /// Removes every range of `owner`, of which there are `ranges`.
    mutating func remove(owner: Int, ranges: Int) {
        count -= ranges
        let before = recent.count
        recent.removeAll { $0.owner == owner }
        if before - recent.count < ranges { removed.insert(owner) }
        if removed.count > max(Self.leastRecent, sorted.count / 2) || count == 0 { rebuild() }
    }

    /// Calls `body` with the owner of each range that holds `key`; one with several such ranges is named for each.
    func forEachOwner(of key: [UInt8], _ body: (Int) -> Void) {
        for interval in recent where Self.holds(interval, key) { body(interval.owner) }
        search(0..<sorted.count, key, body)
    }

    private static func holds(_ interval: Interval, _ key: [UInt8]) -> Bool {
        if let lower = interval.lower, key.precedes(lower) { return false }
        guard let upper = interval.upper else { return true }
        return key.precedes(upper)
    }

    /// Half the part at each step: the depth is that of a balanced tree.
    private func search(_ part: Range<Int>, _ key: [UInt8], _ body: (Int) -> Void) {
        var part = part
        while !part.isEmpty {
            let middle = part.lowerBound + part.count / 2
            if let upper = greatest[middle], !key.precedes(upper) { return }
            search(part.lowerBound..<middle, key, body)
            let interval = sorted[middle]
            if let lower = interval.lower, key.precedes(lower) { return }
            if Self.holds(interval, key), !removed.contains(interval.owner) { body(interval.owner) }
            part = middle + 1..<part.upperBound
        }
    }

    private mutating func rebuild() {
        sorted = (sorted.filter { !removed.contains($0.owner) } + recent).sorted { a, b in
            guard let right = b.lower else { return false }
            guard let left = a.lower else { return true }
            return left.precedes(right)
        }
        recent = []
        removed = []
        greatest = sorted.map(\.upper)
        _ = fill(0..<sorted.count)
    }

    /// Returns the greatest upper bound of the part; `some(nil)` where one has none.
    private mutating func fill(_ part: Range<Int>) -> [UInt8]?? {
        if part.isEmpty { return nil }
        let middle = part.lowerBound + part.count / 2
        var most = sorted[middle].upper
        for other in [fill(part.lowerBound..<middle), fill(middle + 1..<part.upperBound)] {
            guard let other, let upper = most else { continue }
            if let bound = other { if upper.precedes(bound) { most = bound } } else { most = nil }
        }
        greatest[middle] = most
        return .some(most)
    }
}

extension [UInt8] {
    fileprivate func precedes(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}
