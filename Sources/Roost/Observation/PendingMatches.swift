// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Commits of which only the program's own code can tell whether they concern an observation, such as a property that a
/// predicate reads and the program computes. It may block, and runs on the threads that observers' mapping closures run on.
///
/// They are matched one after the other, so that code which never returns holds up its own observation and one thread. At
/// most `byteLimit` bytes wait; beyond that any object may have changed, which is told when the running match has ended.
/// This holds neither the observation nor its store, which such code must not keep open.
///
/// Mutable state (mutex): what waits, and whether something runs.
final class PendingMatches: Sendable {
    private struct State {
        var waiting: [(sequence: UInt64, match: CommitEffect.Match)] = []
        /// Of what waits and of what runs.
        var byteCount = 0
        var isRunning = false
        /// The newest commit that found no room; 0 when each did.
        var missed: UInt64 = 0
    }

    static let byteLimit = 1 << 20

    private let signal: ChangeSignal
    private let threads: ThreadPool
    private let state = Mutex(State())

    init(signal: ChangeSignal, threads: ThreadPool) {
        self.signal = signal
        self.threads = threads
    }

    /// Bytes of what waits and of what is being matched.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// Whether nothing waits and nothing runs. For tests.
    var isIdle: Bool { state.withLock { !$0.isRunning } }

    /// Matches a commit when its turn comes; nil is one that is too large to be kept.
    func add(_ match: CommitEffect.Match?, _ sequence: UInt64) {
        enum Step {
            case wait, start, giveUp
        }
        let step = state.withLock { state -> Step in
            guard let match, state.byteCount + match.byteCount <= Self.byteLimit else {
                if !state.isRunning { return .giveUp }
                // Those before it need no answer any more.
                state.missed = sequence
                for (_, match) in state.waiting { state.byteCount -= match.byteCount }
                state.waiting = []
                return .wait
            }
            state.waiting.append((sequence, match))
            state.byteCount += match.byteCount
            defer { state.isRunning = true }
            return state.isRunning ? .wait : .start
        }
        switch step {
        case .wait: break
        case .start: start()
        case .giveUp: signal.invalidate(by: sequence)
        }
    }

    /// Nothing of what waits is wanted any more; or it cannot be matched.
    func clear(isMissed: Bool = false) {
        let waiting = state.withLock { state in
            let waiting = state.waiting
            if isMissed, let last = waiting.last { state.missed = max(state.missed, last.sequence) }
            for (_, match) in waiting { state.byteCount -= match.byteCount }
            state.waiting = []
            return waiting
        }
        withExtendedLifetime(waiting) {}
    }

    private func start() {
        threads.async {
            self.matchFirst()
        } fail: { _ in
            // No thread can be had: what waits cannot be matched.
            self.clear(isMissed: true)
            self.goOn()
        }
    }

    private func matchFirst() {
        let first = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        if let (sequence, match) = first {
            let place = match.place { isWanted(sequence) }
            state.withLock { $0.byteCount -= match.byteCount }
            if let place { signal.invalidate(by: sequence, from: place) }
        }
        goOn()
    }

    private func isWanted(_ sequence: UInt64) -> Bool {
        state.withLock { $0.missed == 0 } && signal.isOpen(sequence)
    }

    /// The next one takes its place among those of other observations.
    private func goOn() {
        let (missed, goesOn) = state.withLock { state in
            defer { state.missed = 0 }
            state.isRunning = !state.waiting.isEmpty
            return (state.missed, state.isRunning)
        }
        if missed > 0 { signal.invalidate(by: missed) }
        if goesOn { start() }
    }
}
