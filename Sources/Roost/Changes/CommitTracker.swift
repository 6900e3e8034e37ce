// SPDX-License-Identifier: Apache-2.0

/// Decides which commits are published, and in which order: each once, by its sequence, those of other processes in their
/// place among this process's.
///
/// What has not been published follows from `published` and from the sequences that were read in snapshots, and from nothing
/// else. LMDB's numbers tell only whether it is worth reading: they can be seen before the commit can be read (hazard 38), and
/// a write that changes nothing leaves its number to the next one, of any process (hazard 39).
///
/// A pure value: each event returns what is to be published now.
struct CommitTracker: Hashable, Sendable {
    /// What is to be published, in this order.
    struct Action: Equatable, Sendable {
        /// Other processes' commits.
        var foreign: ClosedRange<UInt64>?
        /// The commit of this process that is complete now.
        var own: UInt64?
        /// Other processes' commits after it.
        var later: ClosedRange<UInt64>?
    }

    /// Every commit up to this one has been published.
    private(set) var published: UInt64
    /// Every commit up to this one is complete: the greatest sequence that was read.
    private var complete: UInt64
    /// The commit that this process is making. Whether it succeeds is not known before it has ended: a snapshot that shows this
    /// sequence may show another process's commit, when this one fails.
    private var inFlight: UInt64?
    /// The newest snapshot in which the sequence was read, or that was made here.
    private var readSnapshot: Int?

    /// Nothing up to `sequence` is to be published.
    init(sequence: UInt64) {
        published = sequence
        complete = sequence
    }

    // MARK: This process's commits

    /// A write transaction, which read `sequence - 1` as the last commit, begins to commit.
    mutating func ownCommitBegins(_ sequence: UInt64) -> Action {
        inFlight = sequence
        return Action(foreign: foreign(upTo: max(complete, sequence - min(sequence, 1))))
    }

    /// The commit that began is complete, as a snapshot of its own: up to that one there is nothing to be read.
    mutating func ownCommitCompleted(_ sequence: UInt64, inSnapshot snapshot: Int) -> Action {
        inFlight = nil
        readSnapshot = max(readSnapshot ?? snapshot, snapshot)
        var action = Action(own: sequence)
        if published < sequence - min(sequence, 1) { action.foreign = published + 1...sequence - 1 }
        published = max(published, sequence)
        action.later = foreign(upTo: complete)
        return action
    }

    /// A write transaction has ended without a commit, whether one had begun or not.
    mutating func ownWriteEndsWithoutCommit() -> Action {
        inFlight = nil
        return Action(foreign: foreign(upTo: complete))
    }

    // MARK: Other processes' commits

    /// Whether a snapshot may show what none has shown yet, by LMDB's number of the newest one.
    func isWorthReading(newestSnapshot: Int) -> Bool { newestSnapshot != readSnapshot }

    /// A snapshot showed `sequence` as the last commit.
    mutating func read(_ sequence: UInt64, inSnapshot snapshot: Int) -> Action {
        readSnapshot = snapshot
        return Action(foreign: foreign(upTo: max(complete, sequence)))
    }

    /// Commits up to `sequence`, which a snapshot showed, need not be published: nobody followed them.
    mutating func skip(to sequence: UInt64) {
        complete = max(complete, sequence)
        published = max(published, publishable)
    }

    // MARK: Parts

    /// The last commit that may be published, as far as others' are concerned.
    private var publishable: UInt64 { inFlight.map { min(complete, $0 - min($0, 1)) } ?? complete }

    private mutating func foreign(upTo sequence: UInt64) -> ClosedRange<UInt64>? {
        complete = max(complete, sequence)
        guard publishable > published else { return nil }
        defer { published = publishable }
        return published + 1...publishable
    }
}
