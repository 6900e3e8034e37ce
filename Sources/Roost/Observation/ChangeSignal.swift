// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// When an observation must fetch again: a pure state behind a lock, which any number of tasks can wait for.
///
/// Commits are remembered by their sequence alone, so that any number of them between two fetches costs nothing, and those
/// that a fetch has already seen are dropped.
final class ChangeSignal: Sendable {
    private struct State {
        /// The newest commit that concerns the observation; 0 when none does since the last fetch.
        var invalidatedBy: UInt64 = 0
        /// A reason other than a commit: the first fetch, a new list of IDs.
        var isForced = true
        /// The newest commit that a fetch has seen.
        var seen: UInt64 = 0
        /// Fetches under way; several when tasks share the observation.
        var fetches = 0
        /// Where the window ends that the newest fetch gave; nil when it is not full, or there is none.
        var end: ResultPlace?
        /// Commits that came while something was fetched: only the result tells whether they concern it.
        var undecided: [(sequence: UInt64, place: ResultPlace)] = []
        var undecidedBytes = 0
        var isFinished = false
        var waiting = WaitList<Promise<Void>>()

        var isReady: Bool { isForced || invalidatedBy > 0 || isFinished }

        mutating func decide(_ sequence: UInt64, _ place: ResultPlace) {
            if sequence <= seen { return }
            if let end, place > end { return }
            invalidatedBy = max(invalidatedBy, sequence)
        }

        /// Decides on what came meanwhile, once nothing is fetched any more.
        mutating func decideAll() {
            guard fetches == 0, !undecided.isEmpty else { return }
            for (sequence, place) in undecided { decide(sequence, place) }
            (undecided, undecidedBytes) = ([], 0)
        }
    }

    /// Of commits that are to be decided on after a fetch.
    static let undecidedLimit = 64
    static let undecidedByteLimit = 64 << 10

    private let state = Mutex(State())

    /// A commit concerns the observation, from a place of the result on. Nothing when a fetch has seen it meanwhile, or the place
    /// is behind the window's end.
    func invalidate(by sequence: UInt64, from place: ResultPlace = .anywhere) {
        change { state in
            guard state.fetches > 0, case .at(let key) = place, sequence > state.seen,
                state.undecided.count < Self.undecidedLimit,
                state.undecidedBytes + key.count <= Self.undecidedByteLimit
            else {
                // With no room left it concerns the observation.
                return state.decide(sequence, state.fetches > 0 ? .anywhere : place)
            }
            state.undecided.append((sequence, place))
            state.undecidedBytes += key.count
        }
    }

    /// Whether it makes a difference that a commit concerns the observation. It makes none when a fetch has seen it, or when
    /// one is to come that begins after it.
    func isOpen(_ sequence: UInt64) -> Bool {
        state.withLock { state in
            if state.isFinished || sequence <= max(state.seen, state.invalidatedBy) { return false }
            return !state.isReady || state.fetches > 0
        }
    }

    /// Fetch again, whatever was committed.
    func invalidate() { change { $0.isForced = true } }

    /// Nothing more will come.
    func finish() { change { $0.isFinished = true } }

    /// How many tasks wait. For tests.
    var waiters: Int { state.withLock { $0.waiting.count } }

    /// Whether there is a reason to fetch.
    var isInvalid: Bool { state.withLock { $0.isReady } }

    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// A fetch begins: what forced it is taken care of. Returns the newest commit that asked for it.
    @discardableResult
    func beginFetch() -> UInt64 {
        state.withLock { state in
            state.isForced = false
            state.fetches += 1
            return state.invalidatedBy
        }
    }

    /// A fetch saw every commit up to `sequence`; or it failed, and is not to be tried again for their sake. `end` is where its
    /// window ends.
    func endFetch(at sequence: UInt64, end: ResultPlace? = nil) {
        change { state in
            state.fetches -= 1
            if sequence >= state.seen { state.end = end }
            state.seen = max(state.seen, sequence)
            if state.invalidatedBy <= sequence { state.invalidatedBy = 0 }
            state.decideAll()
        }
    }

    /// A fetch was given up: another is to be made.
    func abandonFetch() {
        change { state in
            state.fetches -= 1
            state.isForced = true
            state.decideAll()
        }
    }

    /// Returns true when there is a reason to fetch, false when the observation or the task has ended.
    func wait() async -> Bool {
        let promise = Promise<Void>()
        let ticket = state.withLock { state -> WaitList<Promise<Void>>.Ticket? in
            state.isReady ? nil : state.waiting.append(promise)
        }
        if let ticket {
            await withTaskCancellationHandler {
                // The only error is the cancellation, which is seen below.
                _ = try? await promise.value()
            } onCancel: {
                promise.cancel()
            }
            state.withLock { _ = $0.waiting.remove(ticket) }
        }
        return !Task.isCancelled && !isFinished
    }

    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state -> [Promise<Void>] in
            body(&state)
            return state.isReady ? state.waiting.removeAll() : []
        }
        for promise in waiting { promise.fulfil(.success(())) }
    }
}
