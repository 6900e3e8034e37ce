// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB
import Synchronization

/// Live values of a result that is kept up to date from the changes: in the order of the commits, each applied to the
/// state at the one before, from the changed objects' records before and after.
///
/// Where nothing of the program's runs, a commit is applied where it is delivered; else it waits, in a bounded number
/// of bytes, until a consumer asks for a value. Of commits whose records are not there (other processes', those that
/// took too much memory) the changed objects are looked up in a snapshot, and the state is then that snapshot's.
///
/// Mutable state (mutex): see `State`. Whoever works on the result takes it out, so that nothing long runs under the
/// lock.
final class MaintainedIteration<Result: MaintainedResult>: LiveIteration, CommitSubscriber, Closable {
    private struct State {
        /// Nil while somebody works on it.
        var result: Result?
        /// The last commit that is in it.
        var sequence: UInt64 = 0
        /// Whether everything is to be read.
        var isToLoad = true
        var hasLoaded = false
        /// Whether it was brought to a snapshot's since the last value: then a value goes before further commits,
        /// which may never cease to come.
        var isFresh = false
        /// Commits that are not in it.
        var backlog: Backlog
        /// Whether a thread has been told to make a value.
        var isScheduled = false
        /// A value that nobody has taken, since who waited was cancelled.
        var ready: Result.Value?
        var failure: (any Error)?
        var isFinished = false
        var waiting = WaitList<Promise<Void>>()
        /// Who waits for code of the program's, and how they are told of the end.
        var ends = WaitList<@Sendable () -> Void>()

        /// Whether a consumer has something to do.
        var isReady: Bool {
            if isFinished || ready != nil || failure != nil { return true }
            guard let result else { return false }
            return isToLoad || !backlog.isEmpty || result.isShort || result.isChanged
        }
    }

    /// Commits that wait; the first can be looked at.
    struct Backlog {
        private var first: CommitRecord?
        private var rest: PendingCommits

        init(limits: PendingCommits.Limits) { rest = PendingCommits(limits: limits) }

        var isEmpty: Bool { first == nil && rest.isEmpty }

        mutating func append(_ commit: CommitRecord) { rest.append(commit) }

        mutating func peek() -> CommitRecord? {
            if first == nil { first = rest.next() }
            return first
        }

        mutating func next() -> CommitRecord? {
            defer { first = nil }
            return peek()
        }

        /// Drops those that a snapshot holds altogether.
        mutating func drop(upTo sequence: UInt64) {
            while let commit = peek(), commit.sequences.upperBound <= sequence { _ = next() }
        }
    }

    /// What is applied where commits are delivered, others wait meanwhile.
    private static var mostRowsInDelivery: Int { 1_000 }
    private static var limits: PendingCommits.Limits {
        .init(merged: .init(bytes: 4 << 20), imageBytes: 4 << 20)
    }

    private let store: Store
    private let entity: StoredEntity
    private let filter: Filter
    private let counters: LiveCounters
    private let state: Mutex<State>

    let wantsImages = true
    let interest: ChangeInterest

    init(_ result: Result, _ binding: EntityBinding, _ filter: Filter, _ store: Store, _ counters: LiveCounters) throws
    {
        self.store = store
        self.filter = filter
        self.counters = counters
        entity = binding.entity
        interest = filter.interest(in: binding.entity)
        state = Mutex(State(result: result, backlog: Backlog(limits: Self.limits)))
        // In this order: what closes the store meanwhile finds what it has to end.
        store.engine.bus.subscribe(self)
        do {
            try store.add(self)
        } catch {
            store.engine.bus.unsubscribe(self)
            throw error
        }
    }

    /// Ends the iteration; also called when the store is closed.
    func close() {
        store.engine.bus.unsubscribe(self)
        store.remove(self)
        let (waiting, ends) = state.withLock { state in
            state.isFinished = true
            return (state.waiting.removeAll(), state.ends.removeAll())
        }
        for promise in waiting { promise.fulfil(.success(())) }
        for end in ends { end() }
    }

    // MARK: Commits

    func receive(_ commit: CommitRecord) {
        change { state in
            guard !state.isFinished, commit.sequences.upperBound > state.sequence else { return }
            guard let changed = changes(in: commit) else {
                // Nothing of this entity.
                return
            }
            guard Self.appliesInDelivery, state.result != nil, !state.isToLoad, state.backlog.isEmpty,
                let changed, changed.rows.count <= Self.mostRowsInDelivery
            else {
                if let changed, Result.appliesProgramCode, !concerns(commit, changed) { return }
                state.backlog.append(commit)
                return
            }
            apply(commit, changed, to: &state)
        }
    }

    private static var appliesInDelivery: Bool { !Result.appliesProgramCode }

    /// What a commit did to the entity, where its records are there; `some(nil)` where they are not, nil where it did
    /// nothing.
    private func changes(in commit: CommitRecord) -> EntityChanges?? {
        guard let all = commit.changes else { return .some(nil) }
        guard let changed = all.first(where: { $0.entity == entity.number }) else { return .none }
        let isImaged =
            !commit.isForeign && commit.sequences.count == 1 && changed.isComplete
            && (changed.images?.areOfCommit == true || changed.rows.isEmpty)
        return .some(isImaged ? changed : nil)
    }

    /// Whether one of the objects matches, before or after.
    private func concerns(_ commit: CommitRecord, _ changed: EntityChanges) -> Bool {
        for row in commit.rows(of: changed) {
            let matches = changed.withImages(of: row) { old, new in
                changed.rows[row].key.withUnsafeBytes { key in
                    [old, new].contains { record in
                        guard let record else { return false }
                        // What cannot be read is for who applies it.
                        return (try? entity.read(key: key, record: record) { try filter.matches($0) }) ?? true
                    }
                }
            }
            if matches { return true }
        }
        return false
    }

    private func apply(_ commit: CommitRecord, _ changed: EntityChanges, to state: inout State) {
        guard var result = state.result else { return }
        // Taken out while it is changed, so that nothing is copied.
        state.result = nil
        do {
            try apply(commit, changed, to: &result)
            state.sequence = commit.sequences.upperBound
        } catch {
            // A record that cannot be read: what is in the file will tell.
            state.isToLoad = true
        }
        state.result = result
    }

    private func apply(_ commit: CommitRecord, _ changed: EntityChanges, to result: inout Result) throws {
        for row in commit.rows(of: changed) {
            try changed.withImages(of: row) { old, new in
                try result.apply(changed.rows[row].key, old: old, new: new)
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let (waiting, isToRun) = state.withLock { state -> ([Promise<Void>], Bool) in
            body(&state)
            if state.waiting.isEmpty || !state.isReady { return ([], false) }
            guard canRun(&state) else { return (state.waiting.removeAll(), false) }
            defer { state.isScheduled = true }
            return ([], !state.isScheduled)
        }
        for promise in waiting { promise.fulfil(.success(())) }
        if isToRun { schedule() }
    }

    /// Whether a thread for the program's code can make the value while the consumer waits: one that has to read wakes it first.
    private func canRun(_ state: inout State) -> Bool {
        guard Result.takesProgramCode, !state.isFinished, state.ready == nil, state.failure == nil, !state.isToLoad,
            state.result?.isShort == false
        else { return false }
        return !needsReading(state.backlog.peek())
    }

    /// Where no thread can be had, the consumer is told when it asks for one.
    private func schedule() {
        store.engine.maps.async {
            self.state.withLock { $0.isScheduled = false }
            self.run(isFresh: false)
        } fail: { _ in
            let waiting = self.state.withLock { state in
                state.isScheduled = false
                return state.waiting.removeAll()
            }
            for promise in waiting { promise.fulfil(.success(())) }
        }
    }

    // MARK: Values

    private enum Step {
        case value(Result.Value)
        case fail(any Error)
        case end
        /// Something is to be read.
        case read
        /// Something is to be done in which code of the program's may run.
        case run(isFresh: Bool)
        case wait(Promise<Void>, WaitList<Promise<Void>>.Ticket)
    }

    func next() async throws -> Result.Value? { try await next(waits: true) }
    func poll() async throws -> Result.Value? { try await next(waits: false) }

    private func next(waits: Bool) async throws -> Result.Value? {
        while !Task.isCancelled {
            switch state.withLock({ step(&$0) }) {
            case .value(let value):
                counters.count { $0.values += 1 }
                return value
            case .fail(let error): throw error
            case .end: return nil
            case .read:
                do {
                    try await store.read(lane: .observers) { [self] tx in try read(tx.context, tx.sequence()) }
                } catch {
                    if error is CancellationError && Task.isCancelled { return nil }
                    if store.isClosed { return nil }
                    throw error
                }
            case .run(let isFresh):
                let promise = Promise<Void>()
                let end: @Sendable () -> Void = { promise.fulfil(.failure(StoreError.storeClosed)) }
                let ticket = state.withLock { $0.isFinished ? nil : $0.ends.append(end) }
                guard let ticket else { return nil }
                defer { state.withLock { _ = $0.ends.remove(ticket) } }
                do {
                    try await store.engine.maps.run(promise: promise, isAbandonable: true) { [self] in
                        run(isFresh: isFresh)
                    }
                } catch {
                    if Task.isCancelled || store.isClosed { return nil }
                    throw error
                }
            case .wait(let promise, let ticket):
                defer { state.withLock { _ = $0.waiting.remove(ticket) } }
                if !waits { return nil }
                await withTaskCancellationHandler {
                    // The only error is the cancellation.
                    _ = try? await promise.value()
                } onCancel: {
                    promise.cancel()
                }
            }
        }
        return nil
    }

    private func step(_ state: inout State) -> Step {
        if let failure = state.failure {
            state.failure = nil
            state.isFinished = true
            return .fail(failure)
        }
        if state.isFinished { return .end }
        if let ready = state.ready {
            state.ready = nil
            return .value(ready)
        }
        if state.result != nil {
            if Self.appliesInDelivery { applyBacklog(&state) }
            state.backlog.drop(upTo: state.sequence)
            if state.isToLoad || state.result?.isShort == true { return .read }
            let isChanged = state.result?.isChanged == true
            if !(state.isFresh && isChanged), let first = state.backlog.peek() {
                return needsReading(first) ? .read : .run(isFresh: false)
            }
            defer { state.isFresh = false }
            if isChanged {
                if Result.takesProgramCode { return .run(isFresh: state.isFresh) }
                do {
                    if let value = try state.result?.take(at: state.sequence) { return .value(value) }
                } catch {
                    state.isFinished = true
                    return .fail(error)
                }
            }
        }
        let promise = Promise<Void>()
        return .wait(promise, state.waiting.append(promise))
    }

    /// Applies those whose records are there, where no code of the program's runs.
    private func applyBacklog(_ state: inout State) {
        while !state.isToLoad, let first = state.backlog.peek() {
            if first.sequences.upperBound > state.sequence {
                guard let changes = changes(in: first), let changed = changes,
                    changed.rows.count <= Self.mostRowsInDelivery
                else { return }
                apply(first, changed, to: &state)
            }
            _ = state.backlog.next()
        }
    }

    /// Applies what can be applied without a look at the store, and makes the value.
    /// With `isFresh` a value is made whatever waits.
    private func run(isFresh: Bool) {
        guard var (result, sequence) = claim() else { return }
        var isToLoad = false
        var value: Result.Value?
        var failure: (any Error)?
        var count = 0
        while !isToLoad, count < PendingCommits.commitLimit, let (commit, changed) = nextImaged(after: sequence) {
            count += 1
            do {
                try apply(commit, changed, to: &result)
                sequence = commit.sequences.upperBound
            } catch { isToLoad = true }
        }
        // What can only be read is read first: the value is the newest.
        let isToRead = isToLoad || result.isShort || state.withLock { needsReading($0.backlog.peek()) }
        if isFresh || !isToRead, !isToLoad, !result.isShort {
            do { value = try result.take(at: sequence) } catch { failure = error }
        }
        give(back: result, sequence, isToLoad: isToLoad, value: value, failure: failure)
    }

    private func needsReading(_ commit: CommitRecord?) -> Bool {
        guard let commit else { return false }
        guard case .some(.some) = changes(in: commit) else { return true }
        return false
    }

    private func nextImaged(after sequence: UInt64) -> (CommitRecord, EntityChanges)? {
        state.withLock { state in
            state.backlog.drop(upTo: sequence)
            guard let first = state.backlog.peek(), let changes = changes(in: first), let changed = changes else {
                return nil
            }
            _ = state.backlog.next()
            return (first, changed)
        }
    }

    private func claim() -> (result: Result, sequence: UInt64)? {
        state.withLock { state in
            guard let result = state.result, !state.isFinished else { return nil }
            state.result = nil
            return (result, state.sequence)
        }
    }

    private func give(
        back result: Result, _ sequence: UInt64, isToLoad: Bool, value: Result.Value? = nil, failure: (any Error)? = nil
    ) {
        change { state in
            state.result = result
            state.sequence = sequence
            state.isToLoad = isToLoad
            if let value { state.ready = value }
            if let failure { state.failure = failure }
            state.backlog.drop(upTo: sequence)
            if Self.appliesInDelivery { applyBacklog(&state) }
        }
    }

    // MARK: Reading

    /// Brings the state to a snapshot's.
    private func read(_ context: SnapshotContext, _ sequence: UInt64) throws {
        let isToLoad = state.withLock { $0.isToLoad }
        guard var (result, known) = claim() else { return }
        let before = context.transaction.counters.recordsRead
        defer {
            let read = context.transaction.counters.recordsRead - before
            counters.count { $0.recordsRead += read }
        }
        do {
            if isToLoad {
                try load(&result, context)
            } else if try !catchUp(&result, from: known, to: sequence, context) {
                try load(&result, context)
            } else if result.isShort {
                counters.count { $0.refills += 1 }
                try result.refill(context)
            }
            known = max(known, sequence)
            state.withLock { ($0.hasLoaded, $0.isFresh) = (true, true) }
            give(back: result, known, isToLoad: false)
        } catch is CancellationError {
            // Somewhere in the middle.
            give(back: result, known, isToLoad: true)
            throw CancellationError()
        } catch {
            give(back: result, known, isToLoad: true, failure: error)
        }
    }

    private func load(_ result: inout Result, _ context: SnapshotContext) throws {
        let isFirst = state.withLock { !$0.hasLoaded }
        counters.count { numbers in
            numbers.fetches += 1
            if !isFirst { numbers.fallBacks += 1 }
        }
        try result.load(context)
    }

    /// Applies everything that the snapshot holds and the state does not. Returns false where that cannot be told.
    private func catchUp(
        _ result: inout Result, from known: UInt64, to sequence: UInt64, _ context: SnapshotContext
    ) throws -> Bool {
        // Before what waits is looked at: what is delivered until then is in it.
        let delivered = store.engine.bus.delivered
        var known = known
        var merged: MergedChanges?
        func merge(_ commit: CommitRecord) {
            if merged == nil { merged = MergedChanges(commit, limits: .init()) } else { merged?.merge(commit) }
        }
        var isExact = true
        while let commit = state.withLock({ state -> CommitRecord? in
            state.backlog.drop(upTo: known)
            guard let first = state.backlog.peek(), first.sequences.lowerBound <= sequence else { return nil }
            // One of which the snapshot holds a part stays: it will be looked at again.
            return first.sequences.upperBound <= sequence ? state.backlog.next() : first
        }) {
            let isWhole = commit.sequences.upperBound <= sequence
            if merged == nil, isWhole, let changes = changes(in: commit), let changed = changes {
                do { try apply(commit, changed, to: &result) } catch { return false }
                known = commit.sequences.upperBound
                continue
            }
            if commit.sequences.lowerBound <= known || !isWhole { isExact = false }
            merge(commit)
            if !isWhole { break }
        }
        let first = max(delivered, known, merged?.record.sequences.upperBound ?? 0) + 1
        if first <= sequence {
            let engine = store.engine
            let changes = CommittedChanges(history: engine.history, origin: engine.origin) { engine.schema.entity($0) }
            for commit in try changes.records(of: first...sequence, withImages: false, in: context.transaction) {
                merge(commit)
            }
        }
        guard let record = merged?.record else { return true }
        counters.count { $0.catchUps += 1 }
        guard let all = record.changes else { return false }
        guard let changed = all.first(where: { $0.entity == entity.number }) else { return true }
        guard changed.isComplete else { return false }
        for row in changed.rows {
            if Cancellation.isRequested { throw CancellationError() }
            guard try result.catchUp(row, isExact: isExact, context) else { return false }
        }
        return true
    }
}
