// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Publishes every commit, in order, once it is complete: this process's as they happen, other processes' as they are noticed.
///
/// The writer hands a commit over and goes on: it costs as much as there are changes, and nothing for the subscribers. Those
/// whom it concerns (`ChangeRoutes`; of a small one that concerns nobody the writer sees that itself) are told on the bus's own thread, one commit after the other, so a slow one delays others
/// but never the writer. What waits for that thread is bounded in bytes: see `PendingCommits`.
///
/// While somebody subscribes, other processes' commits are looked for whenever the system tells of a write to the file, and
/// now and then without: see `PollSchedule`. A look is a load of LMDB's number unless that shows a new commit.
///
/// Mutable state:
/// - `state` (mutex): what has been published, and what waits;
/// - `subscribers` (mutex): who is told, and how other processes' commits are looked for; never taken by the writer;
/// - `subscriberCount`, `imageWanterCount` (atomic): how many there are, for the writer;
/// - `deliveredSequence` (atomic): how far delivery has come.
final class Bus: Sendable {
    /// Where other processes' commits are seen.
    struct Source: Sendable {
        /// LMDB's number of the newest snapshot; nil once the file is closed. Costs no transaction.
        let newestSnapshot: @Sendable () -> Int?
        /// The last commit's sequence, read in a snapshot, and the snapshot's number.
        let lastCommit: @Sendable () throws -> (sequence: UInt64, snapshot: Int)
        /// What the commits did, one after the other; with the objects' records where those are wanted.
        var changes: @Sendable (_ sequences: ClosedRange<UInt64>, _ withImages: Bool) throws -> [CommitRecord] = {
            sequences, _ in [CommitRecord(sequences: sequences, isForeign: true, changes: nil)]
        }
        /// Begins to call back after each write to the file, by any process, until what it returns is released; nil where the
        /// system does not tell.
        var watch: @Sendable (_ written: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)? = { _ in nil }
        /// For messages.
        var path: String?
    }

    private struct State {
        var tracker: CommitTracker
        var pending = PendingCommits()
        /// The last commit that was queued.
        var lastQueued: UInt64 = 0
        /// Whether the thread has been told of what waits.
        var isScheduled = false
        /// Whether the last look for other processes' commits failed: it is reported once.
        var hasFailed = false
        /// Whether the thread has been told to look for them.
        var isToLook = false

        mutating func append(_ commit: CommitRecord) {
            pending.append(commit)
            lastQueued = max(lastQueued, commit.sequences.upperBound)
        }
    }

    private struct Subscribers {
        var routes = ChangeRoutes()
        /// Those who are awake from the commit after this one on, in the order of the commits.
        var waking = WakingSubscribers()
        /// How many times somebody was the first.
        var turn = 0
        var watch: (any AnyObject & Sendable)?
        /// Nil while nobody subscribes.
        var schedule: PollSchedule?
    }

    private let source: Source
    private let intervals: PollSchedule.Intervals
    private let state: Mutex<State>
    private let subscribers = Mutex(Subscribers())
    private let subscriberCount = Atomic<Int>(0)
    private let imageWanterCount = Atomic<Int>(0)
    private let deliveredSequence = Atomic<UInt64>(0)
    let thread = SerialThread(name: "roost.bus")

    /// `sequence` is the file's last commit.
    init(sequence: UInt64, source: Source, intervals: PollSchedule.Intervals = .init()) {
        self.source = source
        self.intervals = intervals
        state = Mutex(State(tracker: CommitTracker(sequence: sequence)))
    }

    // MARK: Subscribers

    /// Whether a write should keep the records before and after.
    var wantsImages: Bool { imageWanterCount.load(ordering: .acquiring) > 0 }

    /// Adds a subscriber. Commits that are complete when this is called may or may not be delivered to it: it reads a snapshot
    /// afterwards and drops what the snapshot holds.
    func subscribe(_ subscriber: any CommitSubscriber) {
        let turn = subscribers.withLock { $0.routes.isEmpty ? $0.turn : nil }
        // Read without the lock: it may wait for a reader, and who has one may be about to unsubscribe.
        let last = turn == nil ? nil : try? source.lastCommit().sequence
        subscribers.withLock { subscribers in
            if let last, subscribers.routes.isEmpty, subscribers.turn == turn {
                // What others committed while nobody followed is no news.
                state.withLock { $0.tracker.skip(to: last) }
            }
            guard subscribers.routes.add(subscriber) else { return }
            if subscriber.wantsImages { imageWanterCount.add(1, ordering: .acquiringAndReleasing) }
            subscriberCount.add(1, ordering: .acquiringAndReleasing)
            if subscribers.routes.count == 1 {
                subscribers.turn += 1
                subscribers.watch = source.watch { [weak self] in self?.fileWasWritten() }
                subscribers.schedule = PollSchedule(intervals, isWatched: subscribers.watch != nil)
                repeatPoll(subscribers.schedule)
                // For what was committed before the file was watched.
                pollSoon()
            }
        }
    }

    /// Removes a subscriber; one delivery to it may still be under way.
    func unsubscribe(_ subscriber: any CommitSubscriber) {
        let watch = subscribers.withLock { subscribers -> (any AnyObject & Sendable)? in
            guard subscribers.routes.remove(subscriber) else { return nil }
            if subscriber.wantsImages { imageWanterCount.subtract(1, ordering: .acquiringAndReleasing) }
            subscriberCount.subtract(1, ordering: .acquiringAndReleasing)
            guard subscribers.routes.isEmpty else { return nil }
            defer { subscribers.watch = nil }
            subscribers.schedule = nil
            repeatPoll(nil)
            return subscribers.watch
        }
        withExtendedLifetime(watch) {}
    }

    /// Has a subscriber told by its present interest, if it still is one. Commits that are complete when this is called may or
    /// may not be delivered by it.
    func interestChanged(of subscriber: any CommitSubscriber) {
        subscribers.withLock { $0.routes.register(subscriber) }
    }

    /// A subscriber that was asleep is told of commits again: of all that complete after this. Those that are complete and wait to
    /// be delivered are not found to concern it.
    func wake(_ subscriber: any CommitSubscriber) {
        subscribers.withLock { subscribers in
            if let last = state.withLock({ $0.pending.isEmpty ? nil : $0.lastQueued }) {
                subscribers.waking.append(subscriber, after: last)
            } else {
                subscribers.routes.wake(subscriber)
            }
        }
    }

    // MARK: This process's commits

    /// Called by the writer inside the transaction that will commit as `sequence`. Followed by one of the other two.
    func ownCommitBegins(_ sequence: UInt64) { change { $0.ownCommitBegins(sequence) } }

    /// Called by the writer when its transaction has ended without a commit.
    func ownWriteEndsWithoutCommit() { change { $0.ownWriteEndsWithoutCommit() } }

    /// Called by the writer, in the order of its commits. `snapshot` is LMDB's number of the commit.
    func ownCommitCompleted(_ commit: CommitRecord, inSnapshot snapshot: Int) {
        change(own: commit) { $0.ownCommitCompleted(commit.sequences.upperBound, inSnapshot: snapshot) }
    }

    // MARK: Other processes' commits

    /// The system tells of a write to the file, which may be this process's own.
    private func fileWasWritten() {
        plan { $0.fileWasWritten() }
        guard let newest = source.newestSnapshot(),
            state.withLock({ $0.tracker.isWorthReading(newestSnapshot: newest) })
        else { return }
        pollSoon()
    }

    private func pollSoon() {
        let isTold = state.withLock { state in
            defer { state.isToLook = true }
            return state.isToLook
        }
        if isTold { return }
        let isGiven = thread.async { [weak self] in
            self?.state.withLock { $0.isToLook = false }
            self?.poll()
        }
        if !isGiven { state.withLock { $0.isToLook = false } }
    }

    /// Looks for other processes' commits and publishes them; what they changed is read when they are delivered. Opens no transaction unless LMDB's number
    /// says that there was one since the last.
    private func poll() {
        guard let newest = source.newestSnapshot() else { return }
        guard state.withLock({ $0.tracker.isWorthReading(newestSnapshot: newest) }) else {
            plan { $0.polled(.nothing) }
            return
        }
        do {
            let last = try source.lastCommit()
            let hasFound = change { $0.read(last.sequence, inSnapshot: last.snapshot) }.foreign != nil
            state.withLock { $0.hasFailed = false }
            // Its number shows before the commit can be read.
            plan { $0.polled(last.snapshot < newest ? .unreadable : hasFound ? .commits : .nothing) }
        } catch {
            guard source.newestSnapshot() != nil else { return }
            plan { $0.polled(.unreadable) }
            let isFirst = state.withLock { state in
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            if isFirst {
                Diagnostics.report(
                    .pollFailed, "Other processes' commits cannot be seen; they are looked for again: \(error)",
                    path: source.path)
            }
        }
    }

    /// Looks for other processes' commits now, and returns when those that there are have been delivered. Nothing while nobody
    /// subscribes.
    func lookNow() async {
        guard subscriberCount.load(ordering: .acquiring) > 0 else { return }
        await withCheckedContinuation { continuation in
            let isGiven = thread.async { [weak self] in
                self?.poll()
                self?.deliver()
                continuation.resume()
            }
            if !isGiven { continuation.resume() }
        }
    }

    private func plan(_ event: (inout PollSchedule) -> Void) {
        subscribers.withLock { subscribers in
            guard var schedule = subscribers.schedule else { return }
            let before = schedule.interval
            event(&schedule)
            subscribers.schedule = schedule
            if schedule.interval != before { repeatPoll(schedule) }
        }
    }

    private func repeatPoll(_ schedule: PollSchedule?) {
        guard let schedule else { return thread.repeating(every: 0, nil) }
        thread.repeating(every: schedule.interval) { [weak self] in self?.poll() }
    }

    /// How often they are looked for when the system tells of nothing, in nanoseconds; nil while nobody subscribes.
    var pollInterval: UInt64? { subscribers.withLock { $0.schedule?.interval } }

    // MARK: Delivery

    /// Queues what an event lets be published.
    @discardableResult
    private func change(
        own: CommitRecord? = nil, _ event: (inout CommitTracker) -> CommitTracker.Action
    ) -> CommitTracker.Action {
        let (action, isToSchedule) = state.withLock { state -> (CommitTracker.Action, Bool) in
            let action = event(&state.tracker)
            // Who subscribes from now on reads a snapshot that holds these commits.
            guard subscriberCount.load(ordering: .acquiring) > 0 else { return (action, false) }
            if let own, action.foreign == nil, action.later == nil, !state.isScheduled, state.pending.isEmpty,
                concernsNobody(own)
            {
                return (action, false)
            }
            if let foreign = action.foreign { state.append(Self.record(of: foreign)) }
            if let own { state.append(own) }
            if let later = action.later { state.append(Self.record(of: later)) }
            guard !state.pending.isEmpty, !state.isScheduled else { return (action, false) }
            state.isScheduled = true
            return (action, true)
        }
        if isToSchedule { schedule() }
        return action
    }

    /// Whether it is seen at once that a small commit concerns nobody: then the thread need not be woken, which would cost more
    /// than the look. Called with everything before it delivered, and the lock held that keeps it so.
    private func concernsNobody(_ commit: CommitRecord) -> Bool {
        guard let changes = commit.changes, changes.reduce(0, { $0 + $1.rows.count }) <= Self.mostRowsInPassing else {
            return false
        }
        // Never waited for: who holds it may be about to take the other.
        let isFound = subscribers.withLockIfAvailable { subscribers in
            if !subscribers.waking.isEmpty { return true }
            var found = ChangeRoutes.Found()
            subscribers.routes.find(commit, in: &found)
            for changes in changes where found.isEmpty {
                subscribers.routes.find(changes.rows.indices, of: changes, in: &found)
            }
            return !found.isEmpty
        }
        guard isFound == false else { return false }
        deliveredSequence.store(commit.sequences.upperBound, ordering: .releasing)
        return true
    }

    private static let mostRowsInPassing = 16

    /// Where no thread can be had, what waits is delivered with the next commit.
    private func schedule() {
        let isGiven = thread.async { [weak self] in self?.deliver() }
        if !isGiven { state.withLock { $0.isScheduled = false } }
    }

    private static func record(of foreign: ClosedRange<UInt64>) -> CommitRecord {
        CommitRecord(sequences: foreign, isForeign: true, changes: nil)
    }

    /// Delivers what waits now. What comes meanwhile is for the next turn, so that others get theirs on the thread.
    private func deliver() {
        var count = state.withLock { $0.pending.count }
        while count > 0, let commit = state.withLock({ $0.pending.next() }) {
            count -= 1
            for commit in readingChanges(of: commit) { deliver(commit) }
        }
        let goesOn = state.withLock { state in
            state.isScheduled = !state.pending.isEmpty
            return state.isScheduled
        }
        if goesOn { return schedule() }
        subscribers.withLock { subscribers in
            while let subscriber = subscribers.waking.next(before: .max) { subscribers.routes.wake(subscriber) }
        }
    }

    private func deliver(_ commit: CommitRecord) {
        let sequence = commit.sequences.upperBound
        defer { deliveredSequence.store(sequence, ordering: .releasing) }
        let concerned = concerned(by: commit)
        if concerned.isEmpty { return }
        var commit = commit
        var withoutImages = commit
        withoutImages.dropImages()
        for (subscriber, rows) in concerned {
            if subscriber.wantsImages {
                commit.concerned = rows
                subscriber.receive(commit)
            } else {
                withoutImages.concerned = rows
                subscriber.receive(withoutImages)
            }
        }
        subscribers.withLock { $0.routes.putToSleep(concerned.lazy.map(\.subscriber)) }
    }

    /// Who has subscribed since before this commit has been told of it, and of those before, as far as they concern it.
    var delivered: UInt64 { deliveredSequence.load(ordering: .acquiring) }

    /// How many rows are looked at while others wait for the lock.
    private static let rowsAtOnce = 256

    private func concerned(by commit: CommitRecord) -> [(subscriber: any CommitSubscriber, rows: [Int: [Int]])] {
        var found = ChangeRoutes.Found()
        subscribers.withLock { subscribers in
            while let subscriber = subscribers.waking.next(before: commit.sequences.upperBound) {
                subscribers.routes.wake(subscriber)
            }
            subscribers.routes.find(commit, in: &found)
            for changes in commit.changes ?? [] {
                subscribers.routes.find(0..<min(changes.rows.count, Self.rowsAtOnce), of: changes, in: &found)
            }
        }
        for changes in commit.changes ?? [] {
            for start in stride(from: Self.rowsAtOnce, to: changes.rows.count, by: Self.rowsAtOnce) {
                let rows = start..<min(start + Self.rowsAtOnce, changes.rows.count)
                subscribers.withLock { $0.routes.find(rows, of: changes, in: &found) }
            }
        }
        if found.isEmpty { return [] }
        return subscribers.withLock { $0.routes.subscribers(found) }
    }

    /// Commits of which only the numbers are known, as the file's history has them. Where it cannot be read, anything may have
    /// changed: the fetch that follows will tell why.
    private func readingChanges(of commit: CommitRecord) -> [CommitRecord] {
        guard commit.changes == nil else { return [commit] }
        return (try? source.changes(commit.sequences, wantsImages)) ?? [commit]
    }

    /// Bytes of what waits for the thread: of the rows, and of the objects' records.
    var pendingBytes: (rows: Int, images: Int) { state.withLock { ($0.pending.byteCount, $0.pending.imageBytes) } }

    /// Waits until everything that was published before has been delivered. On the bus's own thread it does nothing.
    func drain() {
        if thread.isCurrent || state.withLock({ !$0.isScheduled }) { return }
        thread.sync { [weak self] in self?.deliver() }
    }
}

/// Subscribers that wait for their first commit, in the commits' order.
private struct WakingSubscribers {
    private var waiting: [(subscriber: (any CommitSubscriber)?, last: UInt64)] = []
    private var first = 0

    var isEmpty: Bool { first == waiting.count }

    /// `last` is no less than in the calls before.
    mutating func append(_ subscriber: any CommitSubscriber, after last: UInt64) { waiting.append((subscriber, last)) }

    /// The next of those whose last commit before the first one comes before `sequence`.
    mutating func next(before sequence: UInt64) -> (any CommitSubscriber)? {
        guard first < waiting.count, waiting[first].last < sequence else { return nil }
        defer {
            waiting[first].subscriber = nil
            first += 1
            if first == waiting.count || first > 4_096 {
                waiting.removeFirst(first)
                first = 0
            }
        }
        return waiting[first].subscriber
    }
}
