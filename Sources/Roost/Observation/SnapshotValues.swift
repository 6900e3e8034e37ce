// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension Store {
    /// What `body` reads in one snapshot, at once, and again after each commit that changes something of what it has read.
    ///
    /// ```swift
    /// for try await (cities, people) in store.observe({ tx in
    ///     (try tx.count(FetchDescriptor<City>()), try tx.sum(FetchDescriptor<City>(), of: \.population))
    /// }) { … }
    /// ```
    ///
    /// All that it reads is of the same commit. It is noted what that is, anew each time: the objects that a request's predicate
    /// matches, before or after a change, and those that were looked up by their IDs, there or not. What a limit leaves out counts as
    /// read. What it takes from elsewhere is not noted: a variable that it captures does not make it run again.
    ///
    /// `body` runs on a thread of the store's, in the snapshot, whenever the consumer waits for a value; while it runs it has one of
    /// `Options.readerLimit` places. What it throws ends the sequence and passes through. Costs nothing until it is iterated.
    public func observe<Value: Sendable>(
        _ body: @escaping @Sendable (borrowing ReadTransaction) throws -> Value
    ) -> SnapshotValues<Value> {
        SnapshotValues(store: self, body: body)
    }
}

/// The sequence of what a closure reads; see ``Store/observe(_:)``. Closing the store ends it, and so does cancelling the task, both
/// without an error.
public struct SnapshotValues<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value
    let store: Store
    let body: @Sendable (borrowing ReadTransaction) throws -> Value

    public func makeAsyncIterator() -> Iterator { Iterator(store: store, body: body) }

    /// One iteration. It observes from its first `next` until it is released or has ended.
    public struct Iterator: AsyncIteratorProtocol {
        let store: Store
        let body: @Sendable (borrowing ReadTransaction) throws -> Value
        private var observation: SnapshotObservation?
        private var isOver = false

        init(store: Store, body: @escaping @Sendable (borrowing ReadTransaction) throws -> Value) {
            self.store = store
            self.body = body
        }

        public nonisolated(nonsending) mutating func next() async throws -> Value? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            if isOver { return nil }
            do {
                let observation = try observation ?? SnapshotObservation(store)
                self.observation = observation
                if let value = try await observation.next(body) { return value }
            } catch {
                end()
                throw error
            }
            end()
            return nil
        }

        /// Whether the next value can be had at once. For tests.
        var isInvalid: Bool { observation?.subscription.signal.isInvalid ?? true }

        private mutating func end() {
            isOver = true
            observation = nil
        }
    }
}

/// One iteration over what a closure reads: the regions that it read last, and the tie to the store.
private final class SnapshotObservation: Sendable {
    private let store: Store
    private let regions: ObservedRegions
    let subscription: Subscription

    init(_ store: Store) throws {
        self.store = store
        let regions = ObservedRegions()
        self.regions = regions
        subscription = try Subscription(
            store: store, wantsImages: true, interest: { regions.interest }, effect: { regions.effect(of: $0) })
    }

    deinit { subscription.close() }

    /// Nil when the task is cancelled or the store is closed.
    func next<Value: Sendable>(
        _ body: @escaping @Sendable (borrowing ReadTransaction) throws -> Value
    ) async throws -> Value? {
        let signal = subscription.signal
        do {
            guard await signal.wait() else { return nil }
            let value = try await read(body)
            if Task.isCancelled {
                // Another task may share the iteration, and gets no other notice of this state.
                signal.invalidate()
                return nil
            }
            return value
        } catch {
            if error is CancellationError { signal.invalidate() }
            if error is CancellationError && Task.isCancelled { return nil }
            if let error = error as? StoreError, error.code == .storeClosed, store.isClosed { return nil }
            throw error
        }
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (borrowing ReadTransaction) throws -> Value
    ) async throws -> Value {
        // Until it is known what this reads, every commit is kept.
        regions.readingBegins()
        subscription.interestChanged()
        let tracker = RegionTracker()
        do {
            return try await subscription.refetch(tracker: tracker) { [regions, subscription] tx, _ in
                let value = try body(tx)
                let sequence = try tx.sequence()
                tracker.hasEnded.store(true, ordering: .releasing)
                let (kept, isComplete) = regions.readingEnds(tracker.regions)
                if !isComplete { subscription.signal.invalidate() }
                for commit in kept where commit.sequences.upperBound > sequence {
                    switch regions.effect(of: commit) {
                    case .none: break
                    case .change(let place):
                        subscription.signal.invalidate(by: commit.sequences.upperBound, from: place)
                    case .unknown(let match): subscription.matching.add(match, commit.sequences.upperBound)
                    }
                }
                subscription.interestChanged()
                return value
            }
        } catch {
            if !tracker.hasEnded.load(ordering: .acquiring) { regions.readingEndsWithoutResult() }
            throw error
        }
    }
}

/// What has been read of one entity.
private struct Region: Sendable {
    let entity: StoredEntity
    var filters: [CommitFilter] = []
    var keys: Set<[UInt8]> = []
    /// Where there are too many to be named.
    var isWhole = false

    /// Requests of one entity that are told apart.
    static let mostFilters = 64
    static let mostKeys = 10_000

    var interest: ChangeInterest {
        if isWhole { return ChangeInterest(entity, [.all]) }
        return ChangeInterest(joining: filters.map(\.interest) + [ChangeInterest(entity, [.ids(Array(keys))])])
    }

    func effect(of commit: CommitRecord) -> CommitEffect {
        guard let all = commit.changes else { return .change(from: .anywhere) }
        guard let changed = all.first(where: { $0.entity == entity.number }) else { return .none }
        if isWhole || !changed.isComplete { return .change(from: .anywhere) }
        if !keys.isEmpty, commit.rows(of: changed).contains(where: { keys.contains(changed.rows[$0].key) }) {
            return .change(from: .anywhere)
        }
        return CommitEffect(joining: filters.map { $0.effect(of: commit) })
    }
}

extension CommitEffect {
    /// What it means for a result that is made of several.
    fileprivate init(joining effects: [CommitEffect]) {
        var matches: [Match] = []
        for effect in effects {
            switch effect {
            case .none: continue
            case .unknown(let match?): matches.append(match)
            case .change, .unknown(nil):
                self = effect
                return
            }
        }
        if matches.isEmpty {
            self = .none
            return
        }
        self = .unknown(
            Match(byteCount: matches.reduce(0) { $0 + $1.byteCount }) { [matches] isWanted in
                matches.contains { $0.place(isWanted) != nil } ? .anywhere : nil
            })
    }
}

/// Notes what one run of a closure reads. Confined to its thread until the run is over.
private final class RegionTracker: PlanTracking, @unchecked Sendable {
    private(set) var regions: [Int: Region] = [:]
    /// Whether what was read is known.
    let hasEnded = Atomic<Bool>(false)

    func noteLookup(_ entity: StoredEntity, _ key: UnsafeRawBufferPointer) {
        change(entity) { region in
            region.keys.insert(Array(key))
            if region.keys.count > Region.mostKeys { region.isWhole = true }
        }
    }

    func noteRequest(_ entity: StoredEntity, _ request: LoweredRequest) {
        change(entity) { region in
            region.filters.append(CommitFilter(entity: entity, request: request, endsWindows: false))
            if region.filters.count > Region.mostFilters { region.isWhole = true }
        }
    }

    private func change(_ entity: StoredEntity, _ body: (inout Region) -> Void) {
        var region = regions.removeValue(forKey: entity.number) ?? Region(entity: entity)
        if !region.isWhole { body(&region) }
        if region.isWhole { (region.filters, region.keys) = ([], []) }
        regions[entity.number] = region
    }
}

/// What was read last, by which commits are judged; and those that come while it is read anew.
///
/// Mutable state (mutex).
private final class ObservedRegions: Sendable {
    private struct State {
        var regions: [Int: Region] = [:]
        /// Several when tasks share the iteration.
        var readings = 0
        var kept: [CommitRecord] = []
        var keptBytes = 0
        var isComplete = true
    }

    static let keptLimit = 64
    static let keptByteLimit = 1 << 20

    private let state = Mutex(State())

    var interest: ChangeInterest {
        state.withLock { state in
            state.readings > 0 ? .everything : ChangeInterest(joining: state.regions.values.map(\.interest))
        }
    }

    func effect(of commit: CommitRecord) -> CommitEffect {
        let regions = state.withLock { state -> [Int: Region]? in
            if state.readings > 0 {
                let bytes = commit.byteCount + commit.imageBytes
                if state.kept.count < Self.keptLimit, state.keptBytes + bytes <= Self.keptByteLimit {
                    state.kept.append(commit)
                    state.keptBytes += bytes
                } else {
                    state.isComplete = false
                }
                return nil
            }
            return state.regions
        }
        guard let regions else { return .none }
        return CommitEffect(joining: regions.values.map { $0.effect(of: commit) })
    }

    func readingBegins() { state.withLock { $0.readings += 1 } }

    /// Returns the commits that came meanwhile, and whether that is all of them.
    func readingEnds(_ regions: [Int: Region]) -> (kept: [CommitRecord], isComplete: Bool) {
        state.withLock { state in
            state.regions = regions
            return Self.end(&state)
        }
    }

    func readingEndsWithoutResult() { state.withLock { _ = Self.end(&$0) } }

    private static func end(_ state: inout State) -> (kept: [CommitRecord], isComplete: Bool) {
        let result = (state.kept, state.isComplete)
        state.readings -= 1
        if state.readings == 0 { (state.kept, state.keptBytes, state.isComplete) = ([], 0, true) }
        return result
    }
}
