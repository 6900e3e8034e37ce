// SPDX-License-Identifier: Apache-2.0

/// A fetch whose result is followed: each value is the request's result, mapped, at a commit or later.
///
/// ```swift
/// let observer = FetchDescriptor<City>(predicate: …).makeObserver { cities in cities.map(\.name) }
/// for try await names in observer.values(store) {
///     …
/// }
/// ```
///
/// It is a description, like the request: it holds no store and costs nothing until `values` is iterated, which can be done
/// any number of times.
public struct FetchObserver<T: Entity, Value: Sendable>: Sendable {
    /// What one look at a snapshot gives: the value, or what is left to do for it when the snapshot is closed.
    enum Answer: Sendable {
        case value(Value)
        case unmapped(@Sendable () throws -> Value)

        func made() throws -> Value {
            switch self {
            case .value(let value): value
            case .unmapped(let map): try map()
            }
        }
    }

    /// The rows that an answer is made of, as far as they are known: what is behind a full window's last row does not change it.
    struct Rows {
        var count = 0
        var last: T.ID?

        init() {}

        init(_ objects: [T]) {
            count = objects.count
            last = objects.last?.id
        }
    }

    let request: FetchDescriptor<T>
    let fetch: @Sendable (FetchDescriptor<T>, borrowing ReadTransaction, _ rows: inout Rows) throws -> Answer
    /// Makes the debounce of one iteration.
    var makeDebounce: (@Sendable () -> Debounce)?
    var isDuplicate: (@Sendable (Value, Value) -> Bool)?

    /// The values, beginning with the present one. See `Values`.
    public func values(_ store: Store) -> Values { Values(observer: self, store: store) }

    /// The present result at once, then one after each commit that changed an object which the predicate matches, before
    /// or after the change. Where the request has a limit, and as many objects were found, one whose place in the order is behind the
    /// last of them, before and after, makes no difference; unless the order is of a kind that no index could have. Of another process's commit the objects are known, not what they were before: an update of a
    /// field that the predicate reads, and a deletion, count as a match.
    ///
    /// Fetch and map run on threads of the store's, never on the consumer's actor or the writer, and only while the
    /// consumer waits for a value: when it is slow, it gets the newest state and misses the ones between. The values that it
    /// gets are delivered where it iterates. Code of the program's that the predicate runs, such as a property that it
    /// computes, runs for the changed objects on the threads of the mapping closures. Errors of the fetch, and of the mapping closure, end the sequence; so does
    /// closing the store, without an error. Cancelling the task ends it at once, without an error.
    ///
    /// Fetches of observers wait for those that the program asks for itself, and leave one of `Options.readerLimit` places to
    /// them where there are two.
    public struct Values: AsyncSequence, Sendable {
        public typealias Element = Value
        let observer: FetchObserver
        let store: Store

        public func makeAsyncIterator() -> Iterator { Iterator(observer: observer, store: store) }
    }

    /// One iteration. It observes from its first `next` until it is released or has ended.
    public struct Iterator: AsyncIteratorProtocol {
        private let observer: FetchObserver
        private let store: Store
        private var iteration: ScopedSubscription?
        private var isOver = false
        /// The value before, where the next is compared with it.
        private var last: Value?

        init(observer: FetchObserver, store: Store) {
            self.observer = observer
            self.store = store
        }

        public nonisolated(nonsending) mutating func next() async throws -> Value? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            while !isOver {
                if let value = try await state(isolation: actor) {
                    if observer.isDuplicate != nil { last = value }
                    return value
                }
            }
            return nil
        }

        /// The state after the next change; nil when it is a duplicate, or the iteration is over.
        private mutating func state(isolation actor: isolated (any Actor)?) async throws -> Value? {
            do {
                let scoped = try iteration ?? begin()
                iteration = scoped
                guard await scoped.subscription.signal.wait() else { return end() }
                try await scoped.subscription.signal.settle()
                let (request, fetch) = (observer.request, observer.fetch)
                let value: Value?
                let commits = scoped.commits
                let answer = try await scoped.subscription.refetch { tx, end in
                    var rows = Rows()
                    let answer = try fetch(request, tx, &rows)
                    end = try commits.end(of: T.self, rowCount: rows.count, lastID: rows.last, tx)
                    return answer
                }
                if let isDuplicate = observer.isDuplicate {
                    value = try await scoped.subscription.map { [last] in
                        let value = try answer.made()
                        return last.map { isDuplicate($0, value) } ?? false ? nil : value
                    }
                } else {
                    switch answer {
                    case .value(let fetched): value = fetched
                    case .unmapped(let map): value = try await scoped.subscription.map(map)
                    }
                }
                if Task.isCancelled {
                    // Another task may share the iteration, and gets no other notice of this state.
                    scoped.subscription.signal.invalidate()
                    return end()
                }
                return value
            } catch {
                if error is CancellationError { iteration?.subscription.signal.invalidate() }
                _ = end()
                if error is CancellationError && Task.isCancelled { return nil }
                if let error = error as? StoreError, error.code == .storeClosed, store.isClosed, iterationHasBegun {
                    return nil
                }
                throw error
            }
        }

        /// Whether the next value can be fetched at once. For tests.
        var isInvalid: Bool { iteration?.subscription.signal.isInvalid ?? true }

        private var iterationHasBegun = false

        private mutating func begin() throws -> ScopedSubscription {
            let binding = try store.binding(of: T.self)
            let request = try LoweredRequest(observer.request, binding)
            let commits = CommitFilter(entity: binding.entity, request: request)
            let interest = commits.interest
            let subscription = try Subscription(
                store: store, wantsImages: true, debounce: observer.makeDebounce?(), interest: { interest }
            ) { commits.effect(of: $0) }
            iterationHasBegun = true
            return ScopedSubscription(subscription, commits)
        }

        private mutating func end() -> Value? {
            isOver = true
            iteration = nil
            return nil
        }
    }
}

/// Ends its subscription when the iterator that holds it goes away.
final class ScopedSubscription: Sendable {
    let subscription: Subscription
    let commits: CommitFilter

    init(_ subscription: Subscription, _ commits: CommitFilter) {
        self.subscription = subscription
        self.commits = commits
    }

    deinit { subscription.close() }
}

extension FetchDescriptor {
    /// An observer whose values are this request's results, mapped.
    ///
    /// `map` runs for each value once, after the snapshot is closed, on a thread that the store keeps for such closures; what
    /// it throws ends the sequence and passes through. One that never returns holds up its own sequence only: another thread
    /// takes its thread's place, up to 512 in a store. Beyond that further closures wait for one to return, which is
    /// reported as `Diagnostic.Code.mapsBlocked`; writing, fetching and closing the store never do.
    ///
    /// Each value builds all objects of the result. To follow how many there are, use `makeCountObserver`, which builds none.
    public func makeObserver<Value: Sendable>(
        _ map: @escaping @Sendable ([T]) throws -> Value
    ) -> FetchObserver<T, Value> {
        FetchObserver(request: self) { request, tx, rows in
            let objects = try tx.fetch(request)
            rows = .init(objects)
            return .unmapped { try map(objects) }
        }
    }

    /// An observer whose values are this request's results. Each value builds all objects of the result.
    public func makeObserver() -> FetchObserver<T, [T]> {
        FetchObserver(request: self) { request, tx, rows in
            let objects = try tx.fetch(request)
            rows = .init(objects)
            return .value(objects)
        }
    }

    /// An observer whose values are the IDs of this request's results, in its order. It builds no objects, unless the predicate or the
    /// order needs them: each value costs what `ids` costs.
    public func makeIDObserver() -> FetchObserver<T, [T.ID]> {
        FetchObserver(request: self) { request, tx, rows in
            let ids = try tx.ids(request)
            (rows.count, rows.last) = (ids.count, ids.last)
            return .value(ids)
        }
    }
}
