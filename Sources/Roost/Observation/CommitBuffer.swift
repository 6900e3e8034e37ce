// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What waits for one consumer of `Commits`. Registered with the bus as long as the iterator lives.
final class CommitBuffer: Sendable {
    private let receiver: Receiver

    /// Nil when the store is closed.
    init?(store: Store) {
        receiver = Receiver(store: store)
        // In this order: what closes the store meanwhile finds what it has to end.
        store.engine.bus.subscribe(receiver)
        do {
            try store.add(receiver)
        } catch {
            // The deinitializer unsubscribes it.
            return nil
        }
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
            var waiters = WaitList<Promise<CommitRecord?>>()
            /// Nothing will be added.
            var hasEnded = false
        }

        let store: Store
        let wantsImages = false
        private let state = Mutex(State())

        init(store: Store) { self.store = store }

        func receive(_ commit: CommitRecord) {
            let next = state.withLock { state -> (Promise<CommitRecord?>, CommitRecord?)? in
                guard !state.hasEnded else { return nil }
                state.pending.append(commit)
                // Who was cancelled meanwhile does not take one.
                while let waiter = state.waiters.popFirst() {
                    if waiter.claim() { return (waiter, state.pending.next()) }
                }
                return nil
            }
            // Where a task goes on is for its executor to say, which may be the program's own: not under the lock.
            if let (waiter, commit) = next { waiter.fulfil(.success(commit)) }
        }

        /// Nil at the end, and when the task is cancelled, which ends nothing for those who share the iteration.
        func next() async -> CommitRecord? {
            if Task.isCancelled { return nil }
            let promise = Promise<CommitRecord?>()
            enum Step {
                case go(CommitRecord?)
                case wait(WaitList<Promise<CommitRecord?>>.Ticket)
            }
            let step = state.withLock { state -> Step in
                if let commit = state.pending.next() { return .go(commit) }
                if state.hasEnded { return .go(nil) }
                return .wait(state.waiters.append(promise))
            }
            switch step {
            case .go(let commit): return commit
            case .wait(let ticket):
                return await withTaskCancellationHandler {
                    // The only error is the cancellation.
                    (try? await promise.value()) ?? nil
                } onCancel: {
                    promise.cancel()
                    state.withLock { _ = $0.waiters.remove(ticket) }
                }
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
                return state.waiters.removeAll()
            }
            for waiter in waiters { waiter.fulfil(.success(nil)) }
        }
    }
}
