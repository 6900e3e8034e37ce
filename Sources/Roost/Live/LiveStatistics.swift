// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What live values have cost: all iterations of one `values(store)` together.
public struct LiveStatistics: Sendable, Equatable {
    /// Values that were given.
    public internal(set) var values = 0
    /// How often the whole result was read: once for the first value of an iteration, then only where it fell back to
    /// that.
    public internal(set) var fetches = 0
    /// Those of them that were not the first, since the changes did not tell the result. See ``LiveObserver``.
    public internal(set) var fallBacks = 0
    /// How often changed objects were looked up, since only their IDs were known.
    public internal(set) var catchUps = 0
    /// How often rows were read that came up behind a window's end.
    public internal(set) var refills = 0
    /// Records read, of all these.
    public internal(set) var recordsRead = 0
}

/// Mutable state (mutex): the numbers.
final class LiveCounters: Sendable {
    private let numbers = Mutex(LiveStatistics())

    var statistics: LiveStatistics { numbers.withLock { $0 } }

    func count(_ change: (inout LiveStatistics) -> Void) { numbers.withLock { change(&$0) } }
}
