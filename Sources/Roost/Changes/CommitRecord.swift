// SPDX-License-Identifier: Apache-2.0

/// A commit on its way to those who observe the store.
struct CommitRecord: Sendable {
    /// One sequence for a commit of this process; a span for other processes' commits, which were noticed together.
    let sequences: ClosedRange<UInt64>
    let isForeign: Bool
    /// Nil when anything may have changed.
    let changes: [EntityChanges]?
}

/// A subscriber of the bus. Called on the bus's queue, in the order of the commits; must return soon.
protocol CommitSubscriber: AnyObject, Sendable {
    /// Whether it judges commits by the records before and after.
    var wantsImages: Bool { get }
    func receive(_ commit: CommitRecord)
}
