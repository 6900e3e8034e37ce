// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// When an observation must look again: a pure state behind a lock, waited for by one task.
///
/// Commits are remembered by their sequence alone, so that any number of them between two looks costs nothing, and those
/// that a look has already seen are dropped.
final class ChangeSignal: Sendable {
    private struct State {
        /// The newest commit that touches the observation; 0 when none does since the last look.
        var touchedBy: UInt64 = 0
        /// A reason other than a commit: the first look, a new list of IDs.
        var isForced = true
        var isFinished = false
        var waiter: CheckedContinuation<Void, Never>?

        var isReady: Bool { isForced || touchedBy > 0 || isFinished }
    }

    private let state = Mutex(State())

    /// A commit touches the observation.
    func touch(_ sequence: UInt64) { change { $0.touchedBy = max($0.touchedBy, sequence) } }

    /// Look again, whatever was committed.
    func force() { change { $0.isForced = true } }

    /// Nothing more will come.
    func finish() { change { $0.isFinished = true } }

    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// A look begins: what forced it is taken care of.
    func beginLook() { state.withLock { $0.isForced = false } }

    /// A look saw every commit up to `sequence`.
    func endLook(at sequence: UInt64) {
        state.withLock { state in
            if state.touchedBy <= sequence { state.touchedBy = 0 }
        }
    }

    /// Returns true when there is a reason to look, false when the observation or the task has ended.
    func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let goesOn = state.withLock { state in
                    if state.isReady { return true }
                    state.waiter = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            finish()
        }
        return !Task.isCancelled && !isFinished
    }

    private func change(_ body: (inout State) -> Void) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            body(&state)
            guard state.isReady else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
