// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// What this process has read of a store's file since it opened it: by fetches, look-ups, observers and resolvers, and to learn of
/// other processes' commits. What a write transaction reads is not in it.
///
/// The difference of two shows what something cost:
/// ```swift
/// let before = store.readCounters
/// …
/// print(store.readCounters - before)  // 1 snapshot, 0 index entries visited, 1 record read
/// ```
public struct ReadCounters: Sendable, Equatable, CustomStringConvertible {
    /// Read transactions that have ended; one inside another is a part of it.
    public let snapshots: Int
    /// Index entries that cursors stood on.
    public let entriesVisited: Int
    /// Records that were looked up or passed by a scan, also those that a predicate then excluded.
    public let recordsRead: Int

    init(snapshots: Int, entriesVisited: Int, recordsRead: Int) {
        self.snapshots = snapshots
        self.entriesVisited = entriesVisited
        self.recordsRead = recordsRead
    }

    /// What was read from `before` to `after`.
    public static func - (after: ReadCounters, before: ReadCounters) -> ReadCounters {
        ReadCounters(
            snapshots: after.snapshots - before.snapshots,
            entriesVisited: after.entriesVisited - before.entriesVisited,
            recordsRead: after.recordsRead - before.recordsRead)
    }

    /// The three in words.
    public var description: String {
        """
        \(snapshots) snapshot\(snapshots == 1 ? "" : "s"), \
        \(entriesVisited) index entr\(entriesVisited == 1 ? "y" : "ies") visited, \
        \(recordsRead) record\(recordsRead == 1 ? "" : "s") read
        """
    }
}

extension Store {
    /// What was read so far. All stores of one file in this process share it. Costs a lock that is held briefly; from any
    /// thread.
    public var readCounters: ReadCounters {
        let totals = engine.environment.readTotals
        return ReadCounters(
            snapshots: totals.reads, entriesVisited: totals.counters.entriesVisited,
            recordsRead: totals.counters.recordsRead)
    }
}
