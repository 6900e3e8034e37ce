// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A result that one task waits for, and that the first of several parties gives.
///
/// Mutable state (mutex): who waits, the result, and whether somebody has begun to work on it.
final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var result: Result<Value, any Error>?
        var isClaimed = false
        var isFulfilled = false
    }

    private let state = Mutex(State())

    /// Waits for the result. Once.
    func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<Value, any Error>? in
                if state.result == nil { state.continuation = continuation }
                defer { state.result = nil }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }

    var isFulfilled: Bool { state.withLock { $0.isFulfilled } }

    /// From now on cancellation comes too late. False when it came before.
    func claim() -> Bool {
        state.withLock { state in
            if state.isFulfilled { return false }
            state.isClaimed = true
            return true
        }
    }

    /// Gives the result. False when there is one.
    @discardableResult
    func fulfil(_ result: Result<Value, any Error>) -> Bool { give(result) { _ in true } }

    /// Gives `CancellationError`, unless there is a result or somebody works on it.
    func cancel() { _ = give(.failure(CancellationError())) { !$0.isClaimed } }

    private func give(_ result: Result<Value, any Error>, _ condition: (State) -> Bool) -> Bool {
        let (isGiven, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
            guard !state.isFulfilled, condition(state) else { return (false, nil) }
            state.isFulfilled = true
            // Kept only for who does not wait yet: a result may hold a store.
            guard let continuation = state.continuation else {
                state.result = result
                return (true, nil)
            }
            state.continuation = nil
            return (true, continuation)
        }
        continuation?.resume(with: result)
        return isGiven
    }
}
