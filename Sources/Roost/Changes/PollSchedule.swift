// SPDX-License-Identifier: Apache-2.0

/// How often other processes' commits are looked for, beside the times when the system tells of a write: a pure value.
///
/// Where the system tells of writes that is once a second, in case it loses a notice; where it does not, or a commit was
/// found that it had not told of, every 50 milliseconds until it tells of one.
struct PollSchedule: Equatable, Sendable {
    /// In nanoseconds.
    struct Intervals: Equatable, Sendable {
        var whileTold: UInt64 = 1_000_000_000
        var untold: UInt64 = 50_000_000
        /// The first of the ever longer ones after which it is tried again to read what shows and cannot be read yet.
        var firstRetry: UInt64 = 1_000_000
    }

    enum Outcome: Equatable, Sendable {
        case nothing
        case commits
        /// Something shows that could not be read.
        case unreadable
    }

    private let intervals: Intervals
    private let isWatched: Bool
    /// A commit was found that the system had not told of.
    private var hasMissed = false
    /// The system has told of a write since the last look. At the beginning everything may have been written.
    private var isTold = true
    private var retry: UInt64?

    init(_ intervals: Intervals, isWatched: Bool) {
        self.intervals = intervals
        self.isWatched = isWatched
    }

    /// From one look to the next, in nanoseconds.
    var interval: UInt64 { min(retry ?? .max, regular) }

    private var regular: UInt64 { isWatched && !hasMissed ? intervals.whileTold : intervals.untold }

    /// The system tells of a write.
    mutating func fileWasWritten() {
        isTold = true
        hasMissed = false
    }

    mutating func polled(_ outcome: Outcome) {
        switch outcome {
        case .unreadable:
            retry = min(regular, retry.map { $0 * 2 } ?? intervals.firstRetry)
            return
        case .commits: if !isTold { hasMissed = true }
        case .nothing: break
        }
        isTold = false
        retry = nil
    }
}
