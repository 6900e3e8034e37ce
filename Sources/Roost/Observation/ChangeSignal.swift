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
        var undecided: [(sequence: UInt64, place: ResultPlace, time: Duration?)] = []
        var undecidedBytes = 0
        var isFinished = false
        var waiting = WaitList<Promise<Void>>()
        /// Who waits for a burst's end, and for nothing else than a reason not to.
        var settling = WaitList<Promise<Void>>()
        let debounce: Debounce?

        /// Whether reasons to fetch wait.
        var isPaused = false

        var isInvalid: Bool { isForced || invalidatedBy > 0 }
        var isReady: Bool { isInvalid && !isPaused || isFinished }
        var isUrgent: Bool { isForced || isPaused || isFinished }

        mutating func decide(_ sequence: UInt64, _ place: ResultPlace, _ time: Duration?) {
            if sequence <= seen { return }
            if let end, place > end { return }
            invalidatedBy = max(invalidatedBy, sequence)
            if let debounce, let time { debounce.note(at: time) }
        }

        /// Decides on what came meanwhile, once nothing is fetched any more.
        mutating func decideAll() {
            guard fetches == 0, !undecided.isEmpty else { return }
            for (sequence, place, time) in undecided { decide(sequence, place, time) }
            (undecided, undecidedBytes) = ([], 0)
        }
    }

    /// Of commits that are to be decided on after a fetch.
    static let undecidedLimit = 64
    static let undecidedByteLimit = 64 << 10

    private let state: Mutex<State>
    private let debounce: Debounce?

    /// With `debounce`, `settle` waits until the commits pause.
    init(debounce: Debounce? = nil) {
        self.debounce = debounce
        state = Mutex(State(debounce: debounce))
    }

    /// A commit concerns the observation, from a place of the result on. Nothing when a fetch has seen it meanwhile, or the place
    /// is behind the window's end.
    func invalidate(by sequence: UInt64, from place: ResultPlace = .anywhere) {
        // Asked outside the lock: the clock may be the program's.
        let time = debounce?.now()
        change { state in
            guard state.fetches > 0, case .at(let key) = place, sequence > state.seen,
                state.undecided.count < Self.undecidedLimit,
                state.undecidedBytes + key.count <= Self.undecidedByteLimit
            else {
                // With no room left it concerns the observation.
                return state.decide(sequence, state.fetches > 0 ? .anywhere : place, time)
            }
            state.undecided.append((sequence, place, time))
            state.undecidedBytes += key.count
        }
    }

    /// Whether it makes a difference that a commit concerns the observation. It makes none when a fetch has seen it, or when
    /// one is to come that begins after it; unless that one waits until the commits pause.
    func isOpen(_ sequence: UInt64) -> Bool {
        state.withLock { state in
            if state.isFinished || sequence <= max(state.seen, state.invalidatedBy) { return false }
            return !state.isInvalid || state.fetches > 0 || state.debounce != nil
        }
    }

    /// Fetch again, whatever was committed.
    func invalidate() { change { $0.isForced = true } }

    /// Whether reasons to fetch wait until they do no more.
    var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set { change { $0.isPaused = newValue } }
    }

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
            state.debounce?.end()
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
            // Noted while it began, and seen by it: no burst begins there.
            if state.invalidatedBy == 0 { state.debounce?.end() }
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

    /// Returns when the commits pause, or have waited for as long as they may; at once when the reason to fetch is another one, or
    /// comes meanwhile. Throws `CancellationError` when the task is cancelled, and what the clock's sleep throws.
    func settle() async throws {
        guard let debounce else { return }
        let promise = Promise<Void>()
        let ticket = state.withLock { state in state.isUrgent ? nil : state.settling.append(promise) }
        guard let ticket else { return }
        defer { state.withLock { _ = $0.settling.remove(ticket) } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await debounce.settle() }
            group.addTask {
                try await withTaskCancellationHandler {
                    try await promise.value()
                } onCancel: {
                    promise.cancel()
                }
            }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state -> [Promise<Void>] in
            body(&state)
            let settling = state.isUrgent ? state.settling.removeAll() : []
            return settling + (state.isReady ? state.waiting.removeAll() : [])
        }
        for promise in waiting { promise.fulfil(.success(())) }
    }
}
