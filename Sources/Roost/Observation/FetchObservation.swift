// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A running observation that any number of consumers share, and that can be paused, asked for something else, and stopped.
///
/// ```swift
/// let found = try FetchDescriptor<City>().makeObserver { $0.map(\.name) }.start(in: store)
/// let list = Task { for try await names in found.values { … } }
/// try found.replaceRequest(FetchDescriptor(predicate: #Predicate { $0.name.starts(with: text) }))
/// found.stop()
/// ```
///
/// However many consumers there are, each state is fetched and mapped once; a consumer that comes late gets the newest value at
/// once. Nothing is fetched while nobody waits for a value. It keeps its store open until it is stopped or released, and has no
/// task of its own: whoever waits fetches for all. All methods can be called from any thread and return at once.
public final class FetchObservation<T: Entity, Value: Sendable>: Sendable {
    // Mutable state (mutex): the newest value, who fetches, who waits, and how it ended.

    private struct State {
        var latest: ObservedFetch<T, Value>.Answer?
        /// How many values there were.
        var version = 0
        /// Whether one of the consumers waits for the change or fetches, for all.
        var isFetching = false
        var waiting = WaitList<Promise<Void>>()
        var failure: (any Error)?
        var isOver = false
    }

    private let fetch: ObservedFetch<T, Value>
    private let state = Mutex(State())

    init(_ fetch: ObservedFetch<T, Value>) { self.fetch = fetch }

    // MARK: Control

    /// Whether nothing is fetched. While it is paused, consumers get the newest value there was and then wait; when it goes on,
    /// one value follows if a commit, a new request or `refresh` gave reason for it meanwhile, and none otherwise.
    public var isPaused: Bool {
        get { fetch.subscription.signal.isPaused }
        set { fetch.subscription.signal.isPaused = newValue }
    }

    /// The request that is observed.
    public var request: FetchDescriptor<T> { fetch.request }

    /// Observes another request from now on, whose value follows. No consumer gets a value of the one before after this returns.
    /// Throws what fetching the request would at its beginning, such as `unknownEntity`, and then changes nothing.
    public func replaceRequest(_ request: FetchDescriptor<T>) throws {
        try fetch.replace(request)
        let latest = state.withLock { state in
            defer { state.latest = nil }
            return state.latest
        }
        withExtendedLifetime(latest) {}
    }

    /// Fetches again, whatever was committed.
    public func refresh() { fetch.subscription.signal.invalidate() }

    /// Ends the sequence of every consumer.
    public func stop() { end() }

    private func end(_ failure: (any Error)? = nil) {
        fetch.subscription.close()
        let (waiting, latest) = state.withLock { state in
            defer { state.latest = nil }
            state.isOver = true
            if state.failure == nil { state.failure = failure }
            return (state.waiting.removeAll(), state.latest)
        }
        withExtendedLifetime(latest) {}
        for promise in waiting { promise.fulfil(.success(())) }
    }

    // MARK: Values

    /// The values. Each iteration gets the newest value at once and then every newer one, or, when it is slow, the newest. An error
    /// of the fetch or the mapping closure ends all of them.
    public var values: Values { Values(observation: self) }

    /// The sequence of an observation's values.
    public struct Values: AsyncSequence, Sendable {
        public typealias Element = Value
        let observation: FetchObservation

        public func makeAsyncIterator() -> Iterator { Iterator(observation: observation) }
    }

    /// One consumer.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let observation: FetchObservation
        /// The number of the value that it has; 0 before the first.
        private var version = 0
        private var isOver = false

        init(observation: FetchObservation) { self.observation = observation }

        public nonisolated(nonsending) mutating func next() async throws -> Value? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            while !isOver, !Task.isCancelled {
                switch observation.step(after: version) {
                case .value(let value, let version):
                    self.version = version
                    return value
                case .end(let failure):
                    isOver = true
                    if let failure { throw failure }
                    return nil
                case .fetch: await observation.fetchForAll()
                case .wait(let promise, let ticket):
                    await withTaskCancellationHandler {
                        // The only error is the cancellation.
                        _ = try? await promise.value()
                    } onCancel: {
                        promise.cancel()
                    }
                    observation.leave(ticket)
                }
            }
            isOver = true
            return nil
        }
    }

    private enum Step {
        case value(Value, version: Int)
        case end((any Error)?)
        case fetch
        case wait(Promise<Void>, WaitList<Promise<Void>>.Ticket)
    }

    private func step(after version: Int) -> Step {
        let signal = fetch.subscription.signal
        return state.withLock { state in
            if state.isOver { return .end(state.failure) }
            // Who begins gets what is, where that can be fetched: the newest value may be long past.
            let isStale = version == 0 && !state.isFetching && signal.isInvalid
            if let latest = state.latest, state.version > version, !isStale, latest.generation == fetch.generation {
                return .value(latest.value, version: state.version)
            }
            if !state.isFetching {
                state.isFetching = true
                return .fetch
            }
            let promise = Promise<Void>()
            return .wait(promise, state.waiting.append(promise))
        }
    }

    private func leave(_ ticket: WaitList<Promise<Void>>.Ticket) { state.withLock { _ = $0.waiting.remove(ticket) } }

    /// Waits for the next value, for all who do.
    private func fetchForAll() async {
        var answer: ObservedFetch<T, Value>.Answer?
        do {
            answer = try await fetch.next()
            // Closed with its store, or stopped.
            if answer == nil, !Task.isCancelled { end() }
        } catch {
            end(error)
        }
        let (waiting, before) = state.withLock { state in
            let before = state.latest
            state.isFetching = false
            if let answer, answer.generation == fetch.generation {
                state.latest = answer
                state.version += 1
            }
            // One of them goes on where a cancelled one has left.
            return (state.waiting.removeAll(), before)
        }
        withExtendedLifetime(before) {}
        for promise in waiting { promise.fulfil(.success(())) }
    }
}

extension FetchObserver {
    /// Begins to observe, for any number of consumers. Throws `storeClosed`, `unknownEntity`, and what the request's lowering does.
    public func start(in store: Store) throws -> FetchObservation<T, Value> {
        FetchObservation(try ObservedFetch(self, store))
    }
}
