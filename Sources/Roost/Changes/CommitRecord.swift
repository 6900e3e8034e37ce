// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A commit, or several that were merged, on the way to those who observe the store.
struct CommitRecord: Sendable {
    /// One sequence for a commit of this process; a span for commits that were noticed together or merged.
    let sequences: ClosedRange<UInt64>
    /// Whether other processes' commits are among them.
    let isForeign: Bool
    /// Nil when anything may have changed.
    private(set) var changes: [EntityChanges]?
    /// The last commit's; nil where it is not known.
    var stamp: CommitStamp?
    /// Which rows may concern the subscriber that gets it, by entity, in their order; any where there are none named.
    var concerned: [Int: [Int]] = [:]

    init(sequences: ClosedRange<UInt64>, isForeign: Bool, changes: [EntityChanges]?, stamp: CommitStamp? = nil) {
        self.stamp = stamp
        self.sequences = sequences
        self.isForeign = isForeign
        self.changes = changes
    }

    /// Bytes of memory, without the images.
    var byteCount: Int {
        MemoryLayout<Self>.stride
            + (changes ?? []).reduce(0) { $0 + MemoryLayout<EntityChanges>.stride + $1.rowBytes }
    }

    var imageBytes: Int { (changes ?? []).reduce(0) { $0 + $1.imageBytes } }

    /// The rows that may concern the subscriber.
    func rows(of changes: EntityChanges) -> RowNumbers {
        concerned[changes.entity].map(RowNumbers.some) ?? .all(changes.rows.indices)
    }

    /// Forgets the objects' records. Costs as much as there are entities.
    mutating func dropImages() {
        guard let entities = changes?.indices else { return }
        for entity in entities { changes?[entity].images = nil }
    }
}

/// What the history says of a commit, beside its changes.
struct CommitStamp: Hashable, Sendable {
    /// Tells it from the commit of the same number in a restored or copied store.
    var nonce: UInt64
    var time: Date
}

/// Some or all of an entity's rows in a commit.
enum RowNumbers: Sequence, Sendable {
    case all(Range<Int>)
    case some([Int])

    func makeIterator() -> Iterator {
        switch self {
        case .all(let range): Iterator(rest: range, list: [])
        case .some(let list): Iterator(rest: list.indices, list: list)
        }
    }

    struct Iterator: IteratorProtocol {
        fileprivate var rest: Range<Int>
        /// Empty where all are meant.
        fileprivate let list: [Int]

        mutating func next() -> Int? {
            guard let place = rest.popFirst() else { return nil }
            return list.isEmpty ? place : list[place]
        }
    }
}

/// A subscriber of the bus. Called on the bus's thread, in the order of the commits; must return soon.
protocol CommitSubscriber: AnyObject, Sendable {
    /// Whether it matches commits by the records before and after. The others never get records.
    var wantsImages: Bool { get }
    /// Which commits it is told of. Asked when it subscribes, and under the bus's lock: it must return at once. One that names values of
    /// fields wants images.
    var interest: ChangeInterest { get }
    /// Whether commits make no difference to it until it says so by `Bus.wake`: then it is told of none. Asked when it
    /// subscribes and after each commit that it was told of, under the bus's lock: it must return at once.
    var isAsleep: Bool { get }
    func receive(_ commit: CommitRecord)
}

extension CommitSubscriber {
    var isAsleep: Bool { false }
    var interest: ChangeInterest { .everything }
}
