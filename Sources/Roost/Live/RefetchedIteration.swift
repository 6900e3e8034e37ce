// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB
import Synchronization

/// Live values of a result that changes alone do not tell: it is read again after each commit that may have changed
/// it, and compared with what the consumer has.
///
/// Mutable state (mutex): the newest result that was given, and its number.
final class RefetchedIteration<Result: MaintainedResult>: LiveIteration {
    private let store: Store
    private let subscription: Subscription
    private let empty: Result
    private let counters: LiveCounters
    private let given: Mutex<(result: Result, number: Int, sequence: UInt64)>

    init(_ empty: Result, _ binding: EntityBinding, _ request: LoweredRequest, _ store: Store, _ counters: LiveCounters)
        throws
    {
        self.store = store
        self.empty = empty
        self.counters = counters
        given = Mutex((empty, 0, 0))
        let commits = CommitFilter(entity: binding.entity, request: request)
        let interest = commits.interest
        subscription = try Subscription(store: store, wantsImages: true, interest: { interest }) {
            commits.effect(of: $0)
        }
    }

    func close() { subscription.close() }

    func next() async throws -> Result.Value? { try await next(waits: true) }

    func poll() async throws -> Result.Value? {
        while !subscription.matching.isIdle { await Task.yield() }
        return try await next(waits: false)
    }

    private func next(waits: Bool) async throws -> Result.Value? {
        while waits || subscription.signal.isInvalid, await subscription.signal.wait() {
            do {
                let (loaded, sequence) = try await subscription.refetch { [self] tx, _ in try load(tx) }
                if let value = try await subscription.map({ [self] in try value(of: loaded, at: sequence) }) {
                    counters.count { $0.values += 1 }
                    return value
                }
            } catch {
                // Another task may share the iteration, and gets no other notice of this state.
                subscription.signal.invalidate()
                if error is CancellationError && Task.isCancelled { return nil }
                if store.isClosed, (error as? StoreError)?.code == .storeClosed { return nil }
                throw error
            }
        }
        return nil
    }

    private func load(_ tx: borrowing ReadTransaction) throws -> (Result, UInt64) {
        var loaded = empty
        let context = tx.context
        let before = context.transaction.counters.recordsRead
        let isFirst = given.withLock { $0.number == 0 }
        defer {
            let read = context.transaction.counters.recordsRead - before
            counters.count { numbers in
                numbers.fetches += 1
                if !isFirst { numbers.fallBacks += 1 }
                numbers.recordsRead += read
            }
        }
        try loaded.load(context)
        return (loaded, try tx.sequence())
    }

    /// Nil where the consumer has it. Of tasks that share the iteration one after the other compares with what the
    /// one before it gave.
    private func value(of loaded: Result, at sequence: UInt64) throws -> Result.Value? {
        while true {
            let (last, number, newest) = given.withLock { $0 }
            if sequence < newest { return nil }
            var result = loaded
            if number > 0 { result.follow(last) }
            let value = try result.take(at: sequence)
            let isGiven = given.withLock { given in
                if given.number != number { return false }
                given = (result, number + 1, sequence)
                return true
            }
            if isGiven { return value }
        }
    }
}
