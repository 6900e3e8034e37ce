// SPDX-License-Identifier: Apache-2.0

/// A live result: the objects at one commit, and what has changed since the value before.
public struct LiveResult<T: Entity>: Sendable {
    /// The objects, in the request's order.
    public let objects: LiveObjects<T>
    /// What has changed since the iteration's value before this one; since the empty result, for the first.
    public let difference: LiveDifference
    /// The commit at which the result is this one.
    public let sequence: UInt64

    /// The same change for those who know `CollectionDifference`: an object with another value is removed and
    /// inserted. `earlier` are the objects of the value before. Costs as much as there are changes.
    public func collectionDifference(from earlier: LiveObjects<T>) -> CollectionDifference<T>? {
        var changes: [CollectionDifference<T>.Change] = []
        let shifts = Dictionary(
            (difference.updates + difference.moves).map { ($0.from, $0.to) }, uniquingKeysWith: { first, _ in first })
        for from in difference.removes {
            changes.append(.remove(offset: from, element: earlier[from], associatedWith: nil))
        }
        for to in difference.inserts { changes.append(.insert(offset: to, element: objects[to], associatedWith: nil)) }
        for (from, to) in shifts {
            changes.append(.remove(offset: from, element: earlier[from], associatedWith: to))
            changes.append(.insert(offset: to, element: objects[to], associatedWith: from))
        }
        return CollectionDifference(changes)
    }
}

/// What has changed from one live result to the next, by positions.
///
/// Applied in this order it makes the old result of the new one: take out the objects at the positions of `removes`
/// and at the `from` of `moves`, all of which are positions in the old result, the highest first; put in the objects
/// at the positions of `inserts` and at the `to` of `moves`, positions in the new result, the lowest first; replace
/// those at the `to` of `updates`. Every list stands in the order in which it is applied. List views take it as it
/// is: their batches mean old positions by deletions, new ones by insertions.
public struct LiveDifference: Sendable, Equatable {
    /// An object's place before and after.
    public struct Shift: Sendable, Equatable {
        /// In the old result.
        public let from: Int
        /// In the new result.
        public let to: Int
    }

    /// Positions in the old result of objects that are not in the new one, descending.
    public let removes: [Int]
    /// Positions in the new result of objects that were not in the old one, ascending.
    public let inserts: [Int]
    /// Objects that have another place among those that stay, by ascending new positions: as few as do.
    public let moves: [Shift]
    /// Objects of both results that have other values, by ascending new positions. One that has moved as well is also
    /// in `moves`.
    public let updates: [Shift]

    /// Whether nothing has changed.
    public var isEmpty: Bool { removes.isEmpty && inserts.isEmpty && moves.isEmpty && updates.isEmpty }

    /// The old result changed into the new one. Costs as much as the larger of both, and a sort of the moves.
    public func applied<Element>(
        to old: some Collection<Element>, taking new: some RandomAccessCollection<Element>
    ) -> [Element] {
        let gone = Set(removes).union(moves.map(\.from))
        var kept = old.enumerated().filter { !gone.contains($0.offset) }.map(\.element).makeIterator()
        let come = Set(inserts).union(moves.map(\.to))
        func newElement(_ position: Int) -> Element { new[new.index(new.startIndex, offsetBy: position)] }
        var result: [Element] = []
        var position = 0
        while true {
            if come.contains(position) {
                result.append(newElement(position))
            } else if let element = kept.next() {
                result.append(element)
            } else {
                break
            }
            position += 1
        }
        for update in updates where update.to < result.count { result[update.to] = newElement(update.to) }
        return result
    }
}

/// The objects of a live result: a collection that shares with the results before and after what they have in common.
/// Making one of a hundred thousand objects, of which one changed, costs as much as that one. `Array(objects)` makes
/// an array.
public struct LiveObjects<T: Entity>: RandomAccessCollection, Sendable {
    let rows: RowChunks<T>
    let range: Range<Int>

    /// The places of `rows` have been counted.
    init(_ rows: RowChunks<T>, _ range: Range<Int>) {
        self.rows = rows
        self.range = range
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { range.count }

    /// O(log n).
    public subscript(position: Int) -> T {
        precondition(position >= 0 && position < range.count, "A live result has no object at this position.")
        return rows[range.lowerBound + position].object
    }

    public func makeIterator() -> Iterator { Iterator(self) }

    /// Goes through the objects, each in constant time.
    public struct Iterator: IteratorProtocol {
        private let rows: RowChunks<T>
        private var left: Int
        private var chunk = 0
        private var place = 0
        private var current: [RowChunks<T>.Row] = []

        init(_ objects: LiveObjects) {
            rows = objects.rows
            left = objects.range.count
            if left > 0 {
                (chunk, place) = rows.position(objects.range.lowerBound)
                current = rows.rows(chunk)
            }
        }

        public mutating func next() -> T? {
            guard left > 0 else { return nil }
            if place == current.count {
                chunk += 1
                (place, current) = (0, rows.rows(chunk))
            }
            defer {
                place += 1
                left -= 1
            }
            return current[place].object
        }
    }
}

extension LiveObjects: Equatable where T: Equatable {
    public static func == (a: Self, b: Self) -> Bool { a.elementsEqual(b) }
}
