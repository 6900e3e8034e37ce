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
    /// Nil where the value is only that something has changed.
    let fetch: (@Sendable (FetchDescriptor<T>, borrowing ReadTransaction, _ rows: inout Rows) throws -> Answer)?
    /// What the values are where nothing is fetched.
    var notice: (@Sendable () -> Value)?
    /// Makes the debounce of one iteration.
    var makeDebounce: (@Sendable () -> Debounce)?
    var isDuplicate: (@Sendable (Value, Value) -> Bool)?
    /// The fields whose updates count; nil is all.
    var chosenFields: (@Sendable (EntityBinding) throws -> Set<Int>)?
    var skipsFirst = false

    init(
        request: FetchDescriptor<T>,
        fetch: @escaping @Sendable (FetchDescriptor<T>, borrowing ReadTransaction, _ rows: inout Rows) throws -> Answer
    ) {
        self.request = request
        self.fetch = fetch
    }

    init(request: FetchDescriptor<T>, notice: @escaping @Sendable () -> Value) {
        self.request = request
        fetch = nil
        self.notice = notice
    }

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
        private var iteration: ObservedFetch<T, Value>?
        private var isOver = false

        init(observer: FetchObserver, store: Store) {
            self.observer = observer
            self.store = store
        }

        public nonisolated(nonsending) mutating func next() async throws -> Value? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            if isOver { return nil }
            do {
                let iteration = try iteration ?? ObservedFetch(observer, store)
                self.iteration = iteration
                if let value = try await iteration.next() { return value.value }
            } catch {
                end()
                throw error
            }
            end()
            return nil
        }

        /// Whether the next value can be fetched at once. For tests.
        var isInvalid: Bool { iteration?.subscription.signal.isInvalid ?? true }

        private mutating func end() {
            isOver = true
            iteration = nil
        }
    }
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

    /// An observer whose values say that the result may be another one: the first at once, then one after each commit that changed an
    /// object which the predicate matches, before or after the change. Nothing is fetched and no record is read, so it is not
    /// known where a window ends, and everything that matches counts. For the objects themselves: `makeObserver { $0 }`.
    public func makeObserver() -> FetchObserver<T, Void> { FetchObserver(request: self, notice: {}) }

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
