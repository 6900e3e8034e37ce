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
/// IDs without an object are left out, and so are objects whose record cannot be decoded: `errors` tells of those. A resolver
/// keeps its store open while it lives, and ends when the store is closed.
public final class Resolver<T: Entity>: Sendable {
    // Mutable state, guarded by `state`: the list, the subscriptions to be told about a new one, and who listens for errors.

    /// How the objects of a value are ordered.
    public enum Order: Sendable {
        /// As the IDs were given; an ID given twice appears twice.
        case asRequested
    }

    private struct State {
        var list: IDList?
        var subscriptions: [ObjectIdentifier: Subscription] = [:]
        var listeners = WaitList<AsyncStream<StoreError>.Continuation>()
    }

    /// A list of IDs with their keys, by which commits are matched.
    private struct IDList {
        let ids: [T.ID]
        let keys: Set<[UInt8]>
    }

    private let state = Mutex(State())
    private let store: Store
    private let chunkSize: Int
    /// By which a failed fetch waits to be tried again.
    private let clock: any Clock<Duration>

    init(store: Store, order: Order, chunkSize: Int, clock: any Clock<Duration> = ContinuousClock()) {
        self.store = store
        self.chunkSize = max(1, chunkSize)
        self.clock = clock
    }

    deinit {
        for listener in state.withLock({ $0.listeners.removeAll() }) { listener.finish() }
    }

    /// Replaces the list of IDs. A list equal to the one before, in the same order, changes nothing and fetches nothing.
    ///
    /// Costs time and memory in proportion to the list; returns before anything is looked up.
    public func resolve(_ ids: some Sequence<T.ID>) {
        let ids = Array(ids)
        // How IDs compare, and what happens when they go away, may be code of the program's: not under the lock.
        let before = state.withLock { $0.list }
        if before?.ids == ids { return }
        // An ID that is too long for a key has no object, and no commit can give it one.
        let keys = Set(ids.compactMap { id in try? id.withKey { Array($0) } })
        let (subscriptions, replaced) = state.withLock { state -> ([Subscription], IDList?) in
            defer { state.list = IDList(ids: ids, keys: keys) }
            return (Array(state.subscriptions.values), state.list)
        }
        withExtendedLifetime(replaced) {}
        for subscription in subscriptions {
            subscription.interestChanged()
            subscription.signal.invalidate()
        }
    }

    /// The objects, from the first `resolve` on. Each iteration is independent, and gets the newest state when it asks.
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
        public typealias Element = [T]
        public typealias Failure = Never
        let resolver: Resolver

        public func makeAsyncIterator() -> Iterator { Iterator(resolver: resolver) }
    }

    /// One iteration. It observes from its first `next` until it is released or has ended.
    public struct Iterator: AsyncIteratorProtocol {
        private let resolver: Resolver
        private var iteration: ScopedResolverSubscription?
        private var isOver = false

        init(resolver: Resolver) { self.resolver = resolver }

        public nonisolated(nonsending) mutating func next() async -> [T]? {
            await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> [T]? {
            while !isOver {
                guard let iteration = iteration ?? resolver.begin() else { return end() }
                self.iteration = iteration
                guard await iteration.subscription.signal.wait() else { return end() }
                do {
                    let answer = try await resolver.refetch(iteration.subscription)
                    if Task.isCancelled {
                        // Another task may share the iteration, and gets no other notice of this state.
                        iteration.subscription.signal.invalidate()
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
                    await resolver.retry(iteration.subscription.signal, after: delay)
                    delay = min(delay * 2, Self.longestDelay)
                }
            }
            return nil
        }

        private static var firstDelay: Duration { .milliseconds(100) }
        private static var longestDelay: Duration { .seconds(30) }
        private var delay = firstDelay
        /// Why the last fetch failed; it is told once.
        private var failure: StoreError.Code?
        /// The objects of which it has been told that they cannot be decoded.
        private var undecodable: Set<T.ID> = []

        private mutating func end() -> [T]? {
            isOver = true
            iteration = nil
            return nil
        }
    }

    // MARK: Iterations

    /// Nil when the store is closed or does not know the entity; the latter is reported.
    private func begin() -> ScopedResolverSubscription? {
        do {
            let entity = try store.binding(of: T.self).entity
            let subscription = try Subscription(
                store: store, wantsImages: false,
                interest: { [weak self] in self?.interest(in: entity) ?? ChangeInterest(entity, []) },
                effect: { [weak self] commit in
                    self?.isAffected(by: commit, entity: entity.number) == true ? .change(from: .anywhere) : .none
                })
            let key = ObjectIdentifier(subscription)
            state.withLock { $0.subscriptions[key] = subscription }
            // For a list that came meanwhile.
            subscription.interestChanged()
            return ScopedResolverSubscription(subscription) { [weak self] in
                self?.state.withLock { _ = $0.subscriptions.removeValue(forKey: key) }
            }
        } catch {
            if !store.isClosed { report(error) }
            return nil
        }
    }

    /// IDs that are registered each for itself; a longer list is asked about every change.
    private static var mostAnchors: Int { 256 }

    private func interest(in entity: StoredEntity) -> ChangeInterest {
        let keys = state.withLock { $0.list?.keys } ?? []
        return ChangeInterest(entity, [keys.count > Self.mostAnchors ? .all : .ids(Array(keys))])
    }

    private func isAffected(by commit: CommitRecord, entity: Int) -> Bool {
        guard let changes = commit.changes else { return true }
        guard let changed = changes.first(where: { $0.entity == entity }) else { return false }
        if !changed.isComplete { return true }
        guard let keys = state.withLock({ $0.list?.keys }) else { return false }
        return commit.rows(of: changed).contains { keys.contains(changed.rows[$0].key) }
    }

    /// What a list of IDs gives.
    private struct Answer: Sendable {
        var objects: [T] = []
        /// Objects that cannot be decoded, and why.
        var failures: [(id: T.ID, error: StoreError)] = []
    }

    /// Looks the list up in one snapshot, chunk by chunk. Nil before the first list.
    private func refetch(_ subscription: Subscription) async throws -> Answer? {
        let chunkSize = chunkSize
        return try await subscription.refetch { [self] tx, _ -> Answer? in
            guard let ids = state.withLock({ $0.list?.ids }) else { return nil }
            var answer = Answer()
            answer.objects.reserveCapacity(ids.count)
            for start in stride(from: 0, to: ids.count, by: chunkSize) {
                let chunk = ids[start..<min(start + chunkSize, ids.count)].filter { (try? $0.withKey { _ in }) != nil }
                do {
                    answer.objects += try tx.get(T.self, ids: chunk)
                } catch let error as StoreError where error.code == .damaged {
                    try Self.get(chunk, from: tx, &answer)
                }
            }
            return answer
        }
    }

    /// One object after the other, to learn which of them cannot be decoded.
    private static func get(_ ids: [T.ID], from tx: borrowing ReadTransaction, _ answer: inout Answer) throws {
        for id in ids {
            do {
                if let object = try tx.get(T.self, id: id) { answer.objects.append(object) }
            } catch let error as StoreError where error.code == .damaged && error.place.id != nil {
                answer.failures.append((id, error))
            }
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

/// Ends a resolver's subscription when the iterator that holds it goes away.
private final class ScopedResolverSubscription: Sendable {
    let subscription: Subscription
    private let ended: @Sendable () -> Void

    init(_ subscription: Subscription, ended: @escaping @Sendable () -> Void) {
        self.subscription = subscription
        self.ended = ended
    }

    deinit {
        subscription.close()
        ended()
    }
}

extension Store {
    /// A resolver of IDs of one entity, for this store.
    ///
    /// `chunkSize` is how many IDs are looked up at once, and one by one where an object among them cannot be decoded.
    public func resolver<T: Entity>(
        for type: T.Type, order: Resolver<T>.Order = .asRequested, chunkSize: Int = 1_000
    ) -> Resolver<T> {
        Resolver(store: self, order: order, chunkSize: chunkSize)
    }
}
