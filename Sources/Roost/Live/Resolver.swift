// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// IDs in, objects out, live: each value is the objects of the latest list of IDs, and a new one comes when the list
/// changes or a commit creates, changes or deletes one of its objects.
///
/// ```swift
/// let resolver = try store.resolver(for: City.self)
/// resolver.resolve(ids)
/// for await cities in resolver.values {
///     …
/// }
/// ```
///
/// IDs without an object are left out, and so are objects whose record cannot be decoded: `errors` tells of those. A resolver
/// keeps its store open while it lives, and ends when the store is closed.
public final class Resolver<T: Entity>: Sendable {
    // Mutable state, guarded by `state`: the list, the iterations to be told about a new one, and who listens for errors.

    /// How the objects of a value are ordered.
    public enum Order: Sendable {
        /// As the IDs were given; an ID given twice appears twice.
        case asRequested
    }

    private struct State {
        var list: IDList<T>?
        var resolutions: [ObjectIdentifier: Resolution<T>] = [:]
        var listeners = WaitList<AsyncStream<StoreError>.Continuation>()
    }

    private let state = Mutex(State())
    private let store: Store
    private let chunkSize: Int
    private let dropsEqualLists: Bool
    /// By which a failed fetch waits to be tried again.
    private let clock: any Clock<Duration>

    init(
        store: Store, order: Order, chunkSize: Int, dropsEqualLists: Bool = true,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.store = store
        self.dropsEqualLists = dropsEqualLists
        self.chunkSize = max(1, chunkSize)
        self.clock = clock
    }

    deinit {
        for listener in state.withLock({ $0.listeners.removeAll() }) { listener.finish() }
    }

    /// Replaces the list of IDs. A list equal to the one before, in the same order, changes nothing and fetches nothing, unless the
    /// resolver was made not to compare them. Of another list only those objects are read that were not among the ones before.
    ///
    /// Costs time and memory in proportion to the list; returns before anything is looked up. Of lists that are given at once from
    /// several threads one is the last.
    public func resolve(_ ids: some Sequence<T.ID>) {
        let ids = Array(ids)
        // How IDs compare, and what happens when they go away, may be code of the program's: not under the lock.
        let before = state.withLock { $0.list }
        if dropsEqualLists, before?.ids == ids { return }
        let list = IDList<T>(ids)
        let (resolutions, replaced) = state.withLock { state in
            defer { state.list = list }
            return (Array(state.resolutions.values), state.list)
        }
        withExtendedLifetime(replaced) {}
        // Each takes the newest, which may be another thread's by now.
        for resolution in resolutions { state.withLock { $0.list }.map(resolution.replace) }
    }

    /// The objects, from the first `resolve` on, in a collection that shares with the value before what has not changed. After a
    /// commit only the objects are read again that it has changed. Each iteration is independent, and gets the newest state when it asks.
    ///
    /// Values never fail. An object that cannot be decoded is left out until a commit changes it, and reported once. When the
    /// fetch fails altogether there is no value, which is reported once as well: it is tried again at the next commit that
    /// changes the list's objects, with a new list, and after a while, at first a tenth of a second and in the end half a minute.
    public var values: Values { Values(resolver: self) }

    /// What `values` leaves out, each once: an error that names the object, or the one by which a whole fetch failed. The
    /// same is told to `Diagnostics`. At most the newest 100 wait for a slow consumer. Ends when the resolver is released.
    public var errors: AsyncStream<StoreError> {
        let (stream, continuation) = AsyncStream<StoreError>.makeStream(bufferingPolicy: .bufferingNewest(100))
        let ticket = state.withLock { $0.listeners.append(continuation) }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.remove(ticket) }
        }
        return stream
    }

    /// The sequence of a resolver's values.
    public struct Values: AsyncSequence, Sendable {
        public typealias Element = LiveObjects<T>
        public typealias Failure = Never
        let resolver: Resolver

        public func makeAsyncIterator() -> Iterator { Iterator(resolver: resolver) }
    }

    /// One iteration. It observes from its first `next` until it is released or has ended.
    public struct Iterator: AsyncIteratorProtocol {
        private let resolver: Resolver
        private var iteration: ScopedResolution<T>?
        private var isOver = false

        init(resolver: Resolver) { self.resolver = resolver }

        public nonisolated(nonsending) mutating func next() async -> LiveObjects<T>? {
            await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> LiveObjects<T>? {
            while !isOver {
                guard let iteration = iteration ?? resolver.begin() else { return end() }
                self.iteration = iteration
                guard await iteration.resolution.signal.wait() else { return end() }
                do {
                    let answer = try await iteration.resolution.read()
                    if Task.isCancelled {
                        // Another task may share the iteration, and gets no other notice of this state.
                        iteration.resolution.signal.invalidate()
                        return end()
                    }
                    guard let answer else { continue }
                    delay = Self.firstDelay
                    failure = nil
                    resolver.report(answer.failures, known: &undecodable)
                    return answer.objects
                } catch {
                    if resolver.store.isClosed || Task.isCancelled { return end() }
                    if failure != (error as? StoreError)?.code { resolver.report(error) }
                    failure = (error as? StoreError)?.code
                    await resolver.retry(iteration.resolution.signal, after: delay)
                    delay = min(delay * 2, Self.longestDelay)
                }
            }
            return nil
        }

        /// Whether there is a reason to read. For tests.
        var isInvalid: Bool { iteration?.resolution.signal.isInvalid ?? true }

        private static var firstDelay: Duration { .milliseconds(100) }
        private static var longestDelay: Duration { .seconds(30) }
        private var delay = firstDelay
        /// Why the last fetch failed; it is told once.
        private var failure: StoreError.Code?
        /// The objects of which it has been told that they cannot be decoded.
        private var undecodable: Set<T.ID> = []

        private mutating func end() -> LiveObjects<T>? {
            isOver = true
            iteration = nil
            return nil
        }
    }

    // MARK: Strict values

    /// The objects, as `values` gives them, where each ID has one: else ``MissingObjects`` ends the sequence, with the IDs that have
    /// none. So does the error of an object that cannot be read, or of a fetch that fails; nothing is tried again. Closing the
    /// store ends it without an error. The list can be replaced, and the sequence iterated anew, after an error too.
    public var strictValues: StrictValues { StrictValues(resolver: self) }

    /// The sequence of a resolver's values, which throws where an ID has no object.
    public struct StrictValues: AsyncSequence, Sendable {
        public typealias Element = LiveObjects<T>
        let resolver: Resolver

        public func makeAsyncIterator() -> StrictIterator { StrictIterator(resolver: resolver) }
    }

    /// One strict iteration. It observes from its first `next` until it is released or has ended.
    public struct StrictIterator: AsyncIteratorProtocol, Sendable {
        private let resolver: Resolver
        private var iteration: ScopedResolution<T>?
        private var isOver = false

        init(resolver: Resolver) { self.resolver = resolver }

        public nonisolated(nonsending) mutating func next() async throws -> LiveObjects<T>? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> LiveObjects<T>? {
            guard !isOver, let iteration = iteration ?? resolver.begin() else { return end() }
            self.iteration = iteration
            do {
                while await iteration.resolution.signal.wait() {
                    guard let answer = try await iteration.resolution.read() else { continue }
                    if Task.isCancelled {
                        iteration.resolution.signal.invalidate()
                        break
                    }
                    if let failure = answer.failures.first { throw failure.error }
                    let missing = answer.missing
                    if !missing.isEmpty { throw MissingObjects(ids: missing) }
                    return answer.objects
                }
            } catch {
                _ = end()
                if resolver.store.isClosed || error is CancellationError && Task.isCancelled { return nil }
                throw error
            }
            return end()
        }

        private mutating func end() -> LiveObjects<T>? {
            isOver = true
            iteration = nil
            return nil
        }
    }

    // MARK: Iterations

    /// Nil when the store is closed.
    private func begin() -> ScopedResolution<T>? {
        do {
            let resolution = try Resolution(store, state.withLock { $0.list }, chunkSize: chunkSize)
            let key = ObjectIdentifier(resolution)
            let list = state.withLock { state in
                state.resolutions[key] = resolution
                return state.list
            }
            // For a list that came meanwhile.
            if let list { resolution.replace(by: list) }
            return ScopedResolution(resolution) { [weak self] in
                self?.state.withLock { _ = $0.resolutions.removeValue(forKey: key) }
            }
        } catch {
            if !store.isClosed { report(error) }
            return nil
        }
    }

    // MARK: Failures

    /// Waits until there is a reason to fetch, or for so long. Returns early in a cancelled task.
    private func retry(_ signal: ChangeSignal, after delay: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await signal.wait() }
            group.addTask { [clock] in
                try? await clock.sleep(for: delay)
                if !Task.isCancelled { signal.invalidate() }
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Tells of objects that cannot be decoded and were not known not to be.
    private func report(_ failures: [(id: T.ID, error: StoreError)], known: inout Set<T.ID>) {
        var told: Set<T.ID> = []
        var new: [StoreError] = []
        for (id, error) in failures where told.insert(id).inserted && !known.contains(id) { new.append(error) }
        known = told
        guard let first = new.first else { return }
        let count = new.count == 1 ? "an object" : "\(new.count) objects"
        Diagnostics.report(
            .resolverFailed, "A resolver of \(T.entityName) leaves out \(count): \(first)", entity: T.entityName)
        for error in new { tell(error) }
    }

    private func report(_ error: any Error) {
        Diagnostics.report(
            .resolverFailed, "A resolver of \(T.entityName) could not read its objects: \(error)", entity: T.entityName)
        if let error = error as? StoreError { tell(error) }
    }

    private func tell(_ error: StoreError) {
        for listener in state.withLock({ $0.listeners.elementsInOrder }) { listener.yield(error) }
    }
}

/// What `strictValues` throws where IDs have no object.
public struct MissingObjects<ID: EntityID>: Error, Hashable, CustomStringConvertible {
    /// The IDs, each once.
    public let ids: Set<ID>

    /// How many there are, and some of them.
    public var description: String {
        let some = ids.prefix(5).map { "\($0)" }.joined(separator: ", ")
        return "\(ids.count) IDs have no object: \(some)\(ids.count > 5 ? ", …" : "")"
    }
}

/// Ends a resolver's iteration when the iterator that holds it goes away.
private final class ScopedResolution<T: Entity>: Sendable {
    let resolution: Resolution<T>
    private let ended: @Sendable () -> Void

    init(_ resolution: Resolution<T>, ended: @escaping @Sendable () -> Void) {
        self.resolution = resolution
        self.ended = ended
    }

    deinit {
        resolution.close()
        ended()
    }
}

extension Store {
    /// A resolver of IDs of one entity, for this store. Throws `unknownEntity` where the store was not opened with the entity.
    ///
    /// `chunkSize` is how many IDs are looked up at once, at most. `dropsEqualLists`: whether each list is compared with the one before,
    /// which takes time with huge ones.
    public func resolver<T: Entity>(
        for type: T.Type, order: Resolver<T>.Order = .asRequested, chunkSize: Int = 1_000, dropsEqualLists: Bool = true
    ) throws -> Resolver<T> {
        if !isClosed { _ = try binding(of: type) }
        return Resolver(store: self, order: order, chunkSize: chunkSize, dropsEqualLists: dropsEqualLists)
    }
}
