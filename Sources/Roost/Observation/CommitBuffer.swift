// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What waits for one consumer of `Commits`. Registered with the bus as long as the iterator lives.
final class CommitBuffer: Sendable {
    private let receiver: Receiver

    /// Nil when the store is closed.
    init?(store: Store) {
        receiver = Receiver(store: store)
        do {
            try store.add(receiver)
        } catch {
            return nil
        }
        store.engine.bus.subscribe(receiver)
    }

    deinit { receiver.cancel() }

    /// The next commit. Nil when the store has been closed and everything before that was taken, or the task was cancelled.
    func next() async -> Commit? {
        await receiver.next().map { Commit($0, store: receiver.store) }
    }

    /// Mutable state, guarded by `state`: what waits, who waits for it, whether more will come.
    private final class Receiver: CommitSubscriber, Closable {
        private struct State {
            var pending = PendingCommits()
            /// Several only when copies of an iterator are used at once: each gets another commit.
            var waiters: [CheckedContinuation<CommitRecord?, Never>] = []
            /// Nothing will be added.
            var hasEnded = false
        }

        let store: Store
        let wantsImages = false
        private let state = Mutex(State())

        init(store: Store) { self.store = store }

        func receive(_ commit: CommitRecord) {
            let taken = state.withLock { state -> (CheckedContinuation<CommitRecord?, Never>, CommitRecord)? in
                guard !state.hasEnded else { return nil }
                state.pending.append(commit)
                guard !state.waiters.isEmpty, let next = state.pending.next() else { return nil }
                return (state.waiters.removeFirst(), next)
            }
            if let (waiter, commit) = taken { waiter.resume(returning: commit) }
        }

        func next() async -> CommitRecord? {
            await withTaskCancellationHandler {
                await withCheckedContinuation { (continuation: CheckedContinuation<CommitRecord?, Never>) in
                    enum Step {
                        case go(CommitRecord?)
                        case wait
                    }
                    let step = state.withLock { state -> Step in
                        if let commit = state.pending.next() { return .go(commit) }
                        if state.hasEnded { return .go(nil) }
                        state.waiters.append(continuation)
                        return .wait
                    }
                    if case .go(let commit) = step { continuation.resume(returning: commit) }
                }
            } onCancel: {
                cancel()
            }
        }

        /// The store is being closed: what was committed before is still delivered.
        func close() {
            store.engine.bus.drain()
            end(keepingPending: true)
        }

        /// Nobody wants more.
        func cancel() { end(keepingPending: false) }

        private func end(keepingPending: Bool) {
            store.engine.bus.unsubscribe(self)
            store.remove(self)
            let waiters = state.withLock { state in
                state.hasEnded = true
                if !keepingPending { state.pending = PendingCommits() }
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume(returning: nil) }
        }
    }
}
