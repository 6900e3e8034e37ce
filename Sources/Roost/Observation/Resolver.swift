// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// IDs in, objects out, live: each value is the objects of the latest list of IDs, and a new one comes when the list
/// changes or a commit creates, changes or deletes one of its objects.
///
/// ```swift
/// let resolver = store.resolver(for: City.self)
/// resolver.resolve(ids)
/// for await cities in resolver.values {
///     …
/// }
/// ```
///
/// IDs without an object are left out. A resolver keeps its store open while it lives, and ends when the store is closed.
///
/// Mutable state, guarded by `state`: the list, and the iterations to be told about a new one.
public final class Resolver<T: Entity>: Sendable {
    /// How the objects of a value are ordered.
    public enum Order: Sendable {
        /// As the IDs were given; an ID given twice appears twice.
        case asRequested
    }

    private struct State {
        var list: IDList?
        var signals: [ObjectIdentifier: ChangeSignal] = [:]
    }

    /// A list of IDs with their keys, for judging commits.
    private struct IDList {
        let ids: [T.ID]
        let keys: Set<[UInt8]>
    }

    private let state = Mutex(State())
    private let store: Store
    private let chunkSize: Int

    init(store: Store, order: Order, chunkSize: Int) {
        self.store = store
        self.chunkSize = max(1, chunkSize)
    }

    /// Replaces the list of IDs. A list equal to the one before, in the same order, changes nothing and fetches nothing.
    ///
    /// Costs time and memory in proportion to the list; returns before anything is looked up.
    public func resolve(_ ids: some Sequence<T.ID>) {
        let ids = Array(ids)
        if state.withLock({ $0.list?.ids == ids }) { return }
        // An ID that is too long for a key has no object, and no commit can give it one.
        let keys = Set(ids.compactMap { id in try? id.withKey { Array($0) } })
        let signals = state.withLock { state -> [ChangeSignal] in
            state.list = IDList(ids: ids, keys: keys)
            return Array(state.signals.values)
        }
        for signal in signals { signal.force() }
    }

    /// The objects, from the first `resolve` on. Each iteration is independent, and gets the newest state when it asks.
    ///
    /// Values never fail: an error of a look-up is reported to the standard error stream, and the value is left out.
    public var values: Values { Values(resolver: self) }

    /// The sequence of a resolver's values.
    public struct Values: AsyncSequence, Sendable {
        public typealias Element = [T]
        public typealias Failure = Never
        let resolver: Resolver

        public func makeAsyncIterator() -> Iterator { Iterator(resolver: resolver) }
    }

    /// One iteration. It observes from its first `next` until it is released or has ended.
    public struct Iterator: AsyncIteratorProtocol {
        private let resolver: Resolver
        private var iteration: ScopedResolution?
        private var isOver = false

        init(resolver: Resolver) { self.resolver = resolver }

        public mutating func next() async -> [T]? { await next(isolation: nil) }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> [T]? {
            while !isOver {
                guard let iteration = iteration ?? resolver.begin() else { return end() }
                self.iteration = iteration
                guard await iteration.observation.signal.wait() else { return end() }
                do {
                    if let objects = try await resolver.look(iteration.observation) {
                        return Task.isCancelled ? end() : objects
                    }
                } catch {
                    if resolver.store.isClosed || Task.isCancelled { return end() }
                    Diagnostics.report(
                        .resolverFailed, "A resolver of \(T.entityName) could not read its objects: \(error)",
                        entity: T.entityName)
                }
            }
            return nil
        }

        private mutating func end() -> [T]? {
            isOver = true
            iteration = nil
            return nil
        }
    }

    // MARK: Iterations

    /// Nil when the store is closed or does not know the entity; the latter is reported.
    private func begin() -> ScopedResolution? {
        do {
            let number = try store.binding(of: T.self).state.number
            let observation = try Observation(store: store, wantsImages: false) { [weak self] commit in
                self?.isTouched(by: commit, entity: number) ?? false
            }
            let signal = observation.signal
            state.withLock { $0.signals[ObjectIdentifier(signal)] = signal }
            return ScopedResolution(observation) { [weak self] in
                self?.state.withLock { _ = $0.signals.removeValue(forKey: ObjectIdentifier(signal)) }
            }
        } catch {
            if !store.isClosed {
                Diagnostics.report(
                    .resolverFailed, "A resolver of \(T.entityName) cannot begin: \(error)", entity: T.entityName)
            }
            return nil
        }
    }

    private func isTouched(by commit: CommitRecord, entity: Int) -> Bool {
        guard let changes = commit.changes else { return true }
        guard let changed = changes.first(where: { $0.entity == entity }) else { return false }
        if !changed.isComplete { return true }
        return state.withLock { state in
            guard let keys = state.list?.keys else { return false }
            return changed.rows.contains { keys.contains($0.key) }
        }
    }

    /// Looks the list up in one snapshot, chunk by chunk, so that cancellation is noticed between them. Nil before the
    /// first list.
    private func look(_ observation: Observation) async throws -> [T]? {
        let chunkSize = chunkSize
        return try await observation.look { [self] tx -> [T]? in
            guard let ids = state.withLock({ $0.list?.ids }) else { return nil }
            var objects: [T] = []
            objects.reserveCapacity(ids.count)
            for start in stride(from: 0, to: ids.count, by: chunkSize) {
                let chunk = ids[start..<min(start + chunkSize, ids.count)]
                objects += try tx.get(T.self, ids: chunk.lazy.filter { (try? $0.withKey { _ in }) != nil })
            }
            return objects
        }
    }
}

/// Ends a resolver's observation when the iterator that holds it goes away.
private final class ScopedResolution: Sendable {
    let observation: Observation
    private let ended: @Sendable () -> Void

    init(_ observation: Observation, ended: @escaping @Sendable () -> Void) {
        self.observation = observation
        self.ended = ended
    }

    deinit {
        observation.close()
        ended()
    }
}

extension Store {
    /// A resolver of IDs of one entity, for this store.
    ///
    /// `chunkSize` is how many IDs are looked up between two checks for cancellation.
    public func resolver<T: Entity>(
        for type: T.Type, order: Resolver<T>.Order = .asRequested, chunkSize: Int = 1_000
    ) -> Resolver<T> {
        Resolver(store: self, order: order, chunkSize: chunkSize)
    }
}
