// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One iteration over a fetch's results: what is asked for now, and the tie to the store. Any number of tasks can ask it for values.
///
/// Mutable state (mutexes): the request, which can be replaced; the value before, where the next is compared with it; `hasBegun`.
final class ObservedFetch<T: Entity, Value: Sendable>: Sendable {
    /// A request, and what is made of it.
    private struct Asked: Sendable {
        var request: FetchDescriptor<T>
        var filter: CommitFilter
        /// How many there were before.
        var generation = 0
    }

    /// A value, and which request it answers.
    struct Answer: Sendable {
        let value: Value
        let generation: Int
    }

    /// Of its own, so that the subscription does not hold the iteration.
    private final class Question: Sendable {
        private let asked: Mutex<Asked>
        init(_ asked: Asked) { self.asked = Mutex(asked) }
        var now: Asked { asked.withLock { $0 } }

        func replace(_ request: FetchDescriptor<T>, _ filter: CommitFilter) {
            let before = asked.withLock { asked in
                defer { asked = Asked(request: request, filter: filter, generation: asked.generation + 1) }
                return asked
            }
            withExtendedLifetime(before) {}
        }
    }

    /// The value before. Of its own as well: a comparison that never returns holds it.
    private final class Last: Sendable {
        private let value = Mutex<Value?>(nil)
        var now: Value? { value.withLock { $0 } }

        func replace(by value: Value) {
            let before = self.value.withLock { last in
                defer { last = value }
                return last
            }
            withExtendedLifetime(before) {}
        }
    }

    private let observer: FetchObserver<T, Value>
    private let store: Store
    private let question: Question
    private let last = Last()
    private let hasBegun = Mutex(false)
    let subscription: Subscription

    /// Throws `storeClosed`, `unknownEntity`, and what the request's lowering does.
    init(_ observer: FetchObserver<T, Value>, _ store: Store) throws {
        self.observer = observer
        self.store = store
        let question = Question(
            Asked(request: observer.request, filter: try Self.filter(observer.request, observer, store)))
        self.question = question
        subscription = try Subscription(
            store: store, wantsImages: true, debounce: observer.makeDebounce?(),
            interest: { question.now.filter.interest }, effect: { question.now.filter.effect(of: $0) })
    }

    deinit { subscription.close() }

    private static func filter(
        _ request: FetchDescriptor<T>, _ observer: FetchObserver<T, Value>, _ store: Store
    ) throws -> CommitFilter {
        let binding = try store.binding(of: T.self)
        return CommitFilter(
            entity: binding.entity, request: try LoweredRequest(request, binding),
            chosen: try observer.chosenFields?(binding), endsWindows: observer.fetch != nil)
    }

    /// The request that is asked for now.
    var request: FetchDescriptor<T> { question.now.request }
    /// Which one it is.
    var generation: Int { question.now.generation }

    /// Asks for something else from now on. Throws what the request's lowering does, and then asks for the same as before.
    func replace(_ request: FetchDescriptor<T>) throws {
        question.replace(request, try Self.filter(request, observer, store))
        subscription.interestChanged()
        subscription.signal.invalidate()
    }

    /// The next value, once there is a reason for one; nil when the task is cancelled or the store is closed.
    func next() async throws -> Answer? {
        let signal = subscription.signal
        do {
            if observer.skipsFirst, begins() { _ = try await subscription.refetch { _, _ in } }
            while await signal.wait() {
                try await signal.settle()
                // Paused meanwhile.
                if !signal.isInvalid { continue }
                guard let answer = try await look() else { continue }
                if Task.isCancelled {
                    // Another task may share the iteration, and gets no other notice of this state.
                    signal.invalidate()
                    return nil
                }
                return answer
            }
            return nil
        } catch {
            if error is CancellationError { signal.invalidate() }
            if error is CancellationError && Task.isCancelled { return nil }
            if let error = error as? StoreError, error.code == .storeClosed, store.isClosed { return nil }
            throw error
        }
    }

    private func begins() -> Bool {
        hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
    }

    /// The present value; nil when it is a duplicate, or of a request that was replaced meanwhile.
    private func look() async throws -> Answer? {
        let (answer, generation) = try await fetch()
        let value: Value?
        if let isDuplicate = observer.isDuplicate {
            value = try await subscription.map { [last] in
                let value = try answer.made()
                return last.now.map { isDuplicate($0, value) } ?? false ? nil : value
            }
        } else {
            switch answer {
            case .value(let fetched): value = fetched
            case .unmapped(let map): value = try await subscription.map(map)
            }
        }
        guard let value, generation == self.generation else { return nil }
        if observer.isDuplicate != nil { last.replace(by: value) }
        return Answer(value: value, generation: generation)
    }

    private func fetch() async throws -> (FetchObserver<T, Value>.Answer, Int) {
        if let notice = observer.notice {
            subscription.notice()
            return (.value(notice()), generation)
        }
        return try await subscription.refetch { [question, observer] tx, end in
            // Read here, so that a request which replaces this one from now on makes another fetch.
            let asked = question.now
            var rows = FetchObserver<T, Value>.Rows()
            guard let answer = try observer.fetch?(asked.request, tx, &rows) else { throw CancellationError() }
            end = try asked.filter.end(of: T.self, rowCount: rows.count, lastID: rows.last, tx)
            return (answer, asked.generation)
        }
    }
}
