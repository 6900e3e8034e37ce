// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Holds a burst of events back until it pauses, but not for ever: the trailing edge, with a maximum wait.
///
/// An event costs a look at the clock: no timer is set anew for it. Who settles sleeps until the burst could be over, looks
/// whether more came, and sleeps on if so.
///
/// Mutable state (mutex): `burst`.
final class Debounce: Sendable {
    private let burst: Mutex<DebouncedBurst>
    /// The clock's time, since this was made.
    let now: @Sendable () -> Duration
    private let sleep: @Sendable (_ until: Duration) async throws -> Void

    init<C: Clock>(_ interval: Duration, maximumWait: Duration?, clock: C) where C.Duration == Duration {
        burst = Mutex(DebouncedBurst(interval: interval, maximumWait: maximumWait))
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    /// Something happened, at a time that `now` gave. Called from any thread, also under a lock: it does not ask the clock.
    func note(at time: Duration) { burst.withLock { $0.note(at: time) } }

    /// Returns when nothing happened for the interval, or the maximum wait is over, and begins anew; at once when nothing
    /// happened at all. Throws what the clock's sleep throws, which is `CancellationError`: the burst is kept then.
    func settle() async throws {
        while true {
            let time = now()
            let due = burst.withLock { burst in
                let due = burst.due
                if let due, due <= time { burst.end() }
                return due
            }
            guard let due, due > time else { return }
            try await sleep(due)
        }
    }

    /// What happened so far is taken care of.
    func end() { burst.withLock { $0.end() } }
}

/// The events of a burst, as far as they decide when it is over. Pure: times are given.
struct DebouncedBurst {
    private let interval: Duration
    private let maximumWait: Duration?
    private var first: Duration?
    private var last = Duration.zero

    /// A negative interval or wait is none.
    init(interval: Duration, maximumWait: Duration?) {
        self.interval = max(interval, .zero)
        self.maximumWait = maximumWait.map { max($0, .zero) }
    }

    /// When to act, should nothing more happen; nil when nothing did.
    var due: Duration? {
        guard let first else { return nil }
        // Subtracted, so that the longest of waits does not overflow.
        guard let maximumWait, maximumWait - (last - first) < interval else { return last.advanced(by: interval) }
        return first.advanced(by: maximumWait)
    }

    mutating func note(at time: Duration) {
        if first == nil { (first, last) = (time, time) } else { last = max(last, time) }
    }

    mutating func end() { first = nil }
}

extension Duration {
    /// The sum, or the longest of durations where that is longer still.
    fileprivate func advanced(by other: Duration) -> Duration {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
        return self > longest - other ? longest : self + other
    }
}
