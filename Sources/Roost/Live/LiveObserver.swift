// SPDX-License-Identifier: Apache-2.0

/// Live values: kept up to date from what commits changed, instead of being fetched again after each.
///
/// ```swift
/// let counts = FetchDescriptor<City>().makeCountsObserver(by: \.country).values(store)
/// for try await byCountry in counts { … }
/// ```
///
/// It is a description, like the request: it holds no store and costs nothing until `values` is iterated, which can
/// be done any number of times. What the changes do not tell is read again, and counted in
/// ``LiveStatistics/fallBacks``:
/// - a predicate that only the program's own code evaluates, such as one that names a property which is computed;
/// - objects in an order of a `stringComparator`, or of a property that is no field's stored order; an offset of more
///   than 10,000 with a limit; text IDs made by other Unicode data;
/// - `counts(by:)` and `sum(of:)` of a request with a limit or an offset;
/// - a commit that changed more objects than are followed one by one, or another process's that the history does not
///   hold any more;
/// - counts and sums at another process's update of a field that they or the predicate read, and at its deletions,
///   unless everything is counted: the object before is not known. The same holds for more commits than wait for a
///   slow consumer in 4 MiB, and for those committed while another process's are looked up;
/// - a changed object whose record cannot be read.
public struct LiveObserver<T: Entity, Value: Sendable>: Sendable {
    let begin: @Sendable (Store, LiveCounters) throws -> any LiveIteration<Value>

    /// The values, beginning with the present one. See `Values`.
    public func values(_ store: Store) -> Values { Values(observer: self, store: store) }

    /// The present value at once, then one when it has changed, and only then. When the consumer is slow, it gets the
    /// newest value and misses the ones between.
    ///
    /// What is to be read is read on threads of the store's, and code of the program's runs on those for mapping
    /// closures, only while the consumer waits for a value. Errors end the sequence; so does closing the store,
    /// without an error. Cancelling the task ends it at once, without an error.
    public struct Values: AsyncSequence, Sendable {
        public typealias Element = Value
        let observer: LiveObserver
        let store: Store
        private let counters = LiveCounters()

        init(observer: LiveObserver, store: Store) {
            self.observer = observer
            self.store = store
        }

        /// What the values have cost so far.
        public var statistics: LiveStatistics { counters.statistics }

        public func makeAsyncIterator() -> Iterator { Iterator(observer: observer, store: store, counters: counters) }
    }

    /// One iteration. It observes from its first `next` until it is released or has ended.
    public struct Iterator: AsyncIteratorProtocol {
        private let observer: LiveObserver
        private let store: Store
        private let counters: LiveCounters
        private var scoped: ScopedLiveIteration<Value>?
        private var isOver = false

        init(observer: LiveObserver, store: Store, counters: LiveCounters) {
            self.observer = observer
            self.store = store
            self.counters = counters
        }

        public nonisolated(nonsending) mutating func next() async throws -> Value? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            if isOver { return nil }
            do {
                let scoped = try scoped ?? ScopedLiveIteration(observer.begin(store, counters))
                self.scoped = scoped
                if let value = try await scoped.iteration.next() { return value }
            } catch {
                end()
                throw error
            }
            end()
            return nil
        }

        /// The next value, if there is one to be had without waiting for a commit. For tests.
        mutating func poll() async throws -> Value? {
            let scoped = try scoped ?? ScopedLiveIteration(observer.begin(store, counters))
            self.scoped = scoped
            return try await scoped.iteration.poll()
        }

        private mutating func end() {
            isOver = true
            scoped = nil
        }
    }
}

extension FetchDescriptor {
    /// An observer whose values are this request's results, with what has changed since the value before: see
    /// ``LiveResult``.
    ///
    /// The result is read once; then a commit costs as much as it has changed objects, of which those are decoded
    /// that are in the result. A window (`fetchLimit`) holds half as many rows behind its end, 16 at least, so that
    /// others can move up; when they are used up, as many are read. Where no index gives the order, that costs a
    /// fetch.
    public func makeLiveObserver() -> LiveObserver<T, LiveResult<T>> {
        LiveObserver { [self] store, counters in
            let (binding, request) = try lowered(store)
            let isKeyed =
                request.order.isKeyed && !binding.entity.hasForeignIDs
                && (request.limit == nil ? request.offset == 0 : request.offset <= MaintainedRows<T>.mostOffset)
            let rows = MaintainedRows<T>(binding, request, isKeyed: isKeyed)
            if !isKeyed { return try RefetchedIteration(rows, binding, request, store, counters) }
            return try Self.iteration(rows, binding, request, store, counters)
        }
    }

    /// An observer whose values say how many objects the request gives. The first costs what `count` costs; then a
    /// commit costs a look at its changed objects, and nothing is read.
    public func makeCountObserver() -> LiveObserver<T, Int> {
        LiveObserver { [self] store, counters in
            let (binding, request) = try lowered(store)
            let count = MaintainedAggregate(CountOfObjects(request), binding, request)
            return try Self.iteration(count, binding, request, store, counters)
        }
    }

    /// An observer whose values say how many objects of the result have each value of a field. The first costs what
    /// `counts(by:)` costs; then a commit costs a look at its changed objects, and a value a copy of the one before.
    public func makeCountsObserver<Field: FieldValue>(
        by keyPath: KeyPath<T, Field> & Sendable
    ) -> LiveObserver<T, [Field: Int]> {
        LiveObserver { [self] store, counters in
            let (binding, request) = try lowered(store)
            let position = try binding.groupPosition(of: keyPath)
            let counts = MaintainedAggregate(CountsOfValues<Field>(position: position, binding), binding, request)
            return try Self.iteration(counts, binding, request, store, counters, ofWindows: false)
        }
    }

    /// An observer whose values say what a field adds up to over the result, exactly: floating-point numbers are
    /// added and taken away without loss, so that a value is always the one that `sum(of:)` gives. The first costs
    /// what that costs; then a commit costs a look at its changed objects. A sum that does not fit in its type ends
    /// the sequence with `sumOverflow`.
    public func makeSumObserver<Field: SummableValue>(
        of keyPath: KeyPath<T, Field> & Sendable
    ) -> LiveObserver<T, Field.Sum> {
        LiveObserver { [self] store, counters in
            let (binding, request) = try lowered(store)
            let position = try binding.position(of: keyPath)
            let sum = MaintainedAggregate(SumOfField<Field>(position: position), binding, request)
            return try Self.iteration(sum, binding, request, store, counters, ofWindows: false)
        }
    }

    private func lowered(_ store: Store) throws -> (EntityBinding, LoweredRequest) {
        let binding = try store.binding(of: T.self)
        return (binding, try LoweredRequest(self, binding))
    }

    /// `ofWindows`: whether the result can be kept up to date where there is a limit or an offset.
    private static func iteration<Result: MaintainedResult>(
        _ result: Result, _ binding: EntityBinding, _ request: LoweredRequest, _ store: Store, _ counters: LiveCounters,
        ofWindows: Bool = true
    ) throws -> any LiveIteration<Result.Value> {
        let isWindow = request.limit != nil || request.offset > 0
        if request.filter.needsObject || (isWindow && !ofWindows) {
            return try RefetchedIteration(result, binding, request, store, counters)
        }
        return try MaintainedIteration(result, binding, request.filter, store, counters)
    }
}
