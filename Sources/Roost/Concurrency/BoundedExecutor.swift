// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Runs work on background threads, at most `limit` at once; the rest waits in order without a thread.
///
/// `state` (mutex): how many workers run, and what waits.
final class BoundedExecutor: Sendable {
    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
        var next = 0
    }

    private let state = Mutex(State())
    private let limit: Int
    private let queue: DispatchQueue

    init(label: String, limit: Int) {
        self.limit = limit
        queue = DispatchQueue(label: label, attributes: .concurrent)
    }

    func submit(_ work: @escaping @Sendable () -> Void) {
        let startsWorker = state.withLock { state in
            guard state.running < limit else {
                state.waiting.append(work)
                return false
            }
            state.running += 1
            return true
        }
        guard startsWorker else { return }
        queue.async {
            work()
            while let next = self.next() { next() }
        }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.next < state.waiting.count else {
                state.waiting.removeAll(keepingCapacity: true)
                state.next = 0
                state.running -= 1
                return nil
            }
            let work = state.waiting[state.next]
            state.next += 1
            if state.next > 1_024 {
                state.waiting.removeFirst(state.next)
                state.next = 0
            }
            return work
        }
    }

    /// Runs `body` here and suspends the caller until it has ended.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            submit { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }
}
