// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One iteration over a live result: tied to a store and to the bus from its first value to its end.
///
/// It has no task of its own and runs nothing while nobody asks for a value: commits only set `signal`, and the next value
/// is fetched when the consumer asks for it. Consumers that are slower than the commits skip states, never the last one.
///
/// Mutable state (mutex): `mapping`, how those are told of the end who wait for a mapping closure. What waits to be matched
/// by the program's own code is in `matching`.
final class Subscription: CommitSubscriber, Closable {
    let store: Store
    let signal: ChangeSignal
    let wantsImages: Bool
    private let currentInterest: @Sendable () -> ChangeInterest
    /// What a commit means for the result. Called by the bus: it runs no code of the program's.
    private let effect: @Sendable (CommitRecord) -> CommitEffect
    let matching: PendingMatches
    private let mapping = Mutex(WaitList<@Sendable () -> Void>())

    /// `interest` says which commits `effect` is asked about; both are called by the bus. Throws `storeClosed`.
    init(
        store: Store, wantsImages: Bool, debounce: Debounce? = nil,
        interest: @escaping @Sendable () -> ChangeInterest = { .everything },
        effect: @escaping @Sendable (CommitRecord) -> CommitEffect
    ) throws {
        self.store = store
        self.wantsImages = wantsImages
        signal = ChangeSignal(debounce: debounce)
        currentInterest = interest
        self.effect = effect
        matching = PendingMatches(signal: signal, threads: store.engine.maps)
        // In this order: what closes the store meanwhile finds what it has to end.
        store.engine.bus.subscribe(self)
        do {
            try store.add(self)
        } catch {
            store.engine.bus.unsubscribe(self)
            throw error
        }
    }

    var interest: ChangeInterest { currentInterest() }

    /// A fetch is to come anyway.
    var isAsleep: Bool { !signal.isOpen(.max) }

    /// What `interest` gives has changed.
    func interestChanged() { store.engine.bus.interestChanged(of: self) }

    func receive(_ commit: CommitRecord) {
        let sequence = commit.sequences.upperBound
        guard signal.isOpen(sequence) else { return }
        switch effect(commit) {
        case .none: break
        case .change(let place): signal.invalidate(by: sequence, from: place)
        case .unknown(let match): matching.add(match, sequence)
        }
    }

    /// Ends the subscription; also called when the store is closed. Who waits for a mapping closure gets `storeClosed`.
    func close() {
        store.engine.bus.unsubscribe(self)
        store.remove(self)
        signal.finish()
        matching.clear()
        for end in mapping.withLock({ $0.removeAll() }) { end() }
    }

    /// Fetches on a thread of the store's, in one snapshot, and notes which commits the snapshot holds. `end` gives the place of
    /// a full window's last row: what is changed behind it makes no difference.
    func refetch<Result: Sendable>(
        tracker: (any ReadTracking & Sendable)? = nil,
        _ body: @escaping @Sendable (borrowing ReadTransaction, _ end: inout ResultPlace?) throws -> Result
    ) async throws -> Result {
        let asked = signal.beginFetch()
        // Before the snapshot: what commits after it, the bus tells.
        store.engine.bus.wake(self)
        do {
            let (result, end, sequence) = try await store.engine.readers.run(.observers) { [store] in
                try withExtendedLifetime((store, tracker)) {
                    let tx = try store.beginRead(tracker: tracker)
                    var end: ResultPlace?
                    let result = try body(tx, &end)
                    return (result, end, try tx.sequence())
                }
            }
            signal.endFetch(at: sequence, end: end)
            return result
        } catch {
            // Another task may share the iteration, and still wants what this one does not.
            if error is CancellationError { signal.abandonFetch() } else { signal.endFetch(at: asked) }
            throw error
        }
    }

    /// What there is to see is left to the consumer: commits from now on make the next notice.
    func notice() {
        let asked = signal.beginFetch()
        store.engine.bus.wake(self)
        signal.endFetch(at: asked)
    }

    /// Runs a caller's closure on a thread for such closures, after the snapshot is closed. Returns at once when the task is
    /// cancelled or the store is closed, also if the closure never does.
    func map<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let promise = Promise<Value>()
        let ticket = mapping.withLock { $0.append { promise.fulfil(.failure(StoreError.storeClosed)) } }
        defer { mapping.withLock { _ = $0.remove(ticket) } }
        // Closed before it was known who waits.
        if signal.isFinished { throw StoreError.storeClosed }
        return try await store.engine.maps.run(promise: promise, isAbandonable: true, body)
    }
}
