// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// One iteration over a live result: tied to a store and to the bus from its first value to its end.
///
/// It has no task of its own and runs nothing while nobody asks for a value: commits only set `signal`, and the next value
/// is fetched when the consumer asks for it. Consumers that are slower than the commits skip states, never the last one.
final class Observation: CommitSubscriber, Closable {
    let store: Store
    let signal = ChangeSignal()
    let wantsImages: Bool
    /// Whether a commit may change the result. Called on the bus's queue.
    private let isTouched: @Sendable (CommitRecord) -> Bool
    /// Where mapping closures run: each observation has a thread when it needs one, so that a closure that never ends holds
    /// up nobody else.
    private let queue = DispatchQueue(label: "roost.observation")

    /// Throws `storeClosed`.
    init(
        store: Store, wantsImages: Bool, isTouched: @escaping @Sendable (CommitRecord) -> Bool
    ) throws {
        self.store = store
        self.wantsImages = wantsImages
        self.isTouched = isTouched
        try store.add(self)
        store.engine.bus.subscribe(self)
    }

    func receive(_ commit: CommitRecord) {
        if isTouched(commit) { signal.touch(commit.sequences.upperBound) }
    }

    /// Ends the observation; also called when the store is closed.
    func close() {
        store.engine.bus.unsubscribe(self)
        store.remove(self)
        signal.finish()
    }

    /// Fetches on a thread of the store's, in one snapshot, and notes which commits the snapshot holds.
    func look<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing ReadTransaction) throws -> Result
    ) async throws -> Result {
        signal.beginLook()
        let (result, sequence) = try await store.read { tx in
            (try body(tx), try tx.sequence())
        }
        signal.endLook(at: sequence)
        return result
    }

    /// Runs a caller's closure on the observation's own thread, after the snapshot is closed. Returns at once when the task
    /// is cancelled, also if the closure never does.
    func map<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let promise = Promise<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                promise.wait(continuation)
                queue.async { promise.fulfil(Result(catching: body)) }
            }
        } onCancel: {
            promise.fulfil(.failure(CancellationError()))
        }
    }
}

/// A continuation that the first of several parties resumes.
private final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var result: Result<Value, any Error>?
    }

    private let state = Mutex(State())

    func wait(_ continuation: CheckedContinuation<Value, any Error>) {
        let result = state.withLock { state -> Result<Value, any Error>? in
            if state.result == nil { state.continuation = continuation }
            return state.result
        }
        if let result { continuation.resume(with: result) }
    }

    func fulfil(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.result == nil else { return nil }
            state.result = result
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: result)
    }
}

extension ReadTransaction {
    /// The sequence of the last commit that this snapshot holds; inside a write, of the commit before it.
    public func sequence() throws -> UInt64 {
        do {
            return try store.engine.main.sequence(in: lease.transaction).sequence
        } catch {
            throw StoreError.wrapping(error, engine: store.engine)
        }
    }
}
