// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Publishes every commit, in order, once it is complete: this process's as they happen, other processes' as they are noticed.
///
/// The writer hands a commit over and goes on: it costs as much as there are changes, and nothing for the subscribers. They
/// are told on the bus's own thread, one commit after the other, so a slow one delays others but never the writer. What waits
/// for that thread is bounded in bytes: see `PendingCommits`.
///
/// Mutable state:
/// - `state` (mutex): what has been published, and what waits;
/// - `subscribers` (mutex): who is told; never taken by the writer;
/// - `subscriberCount`, `imageWanterCount` (atomic): how many there are, for the writer.
final class Bus: Sendable {
    /// Where other processes' commits are seen.
    struct Source: Sendable {
        /// LMDB's number of the newest snapshot; nil once the file is closed. Costs no transaction.
        let newestSnapshot: @Sendable () -> Int?
        /// The last commit's sequence, read in a snapshot, and the snapshot's number.
        let lastCommit: @Sendable () throws -> (sequence: UInt64, snapshot: Int)
    }

    private struct State {
        var tracker: CommitTracker
        var pending = PendingCommits()
        /// Whether the thread has been told of what waits.
        var isScheduled = false
        /// Whether the last look for other processes' commits failed: it is reported once.
        var hasFailed = false
    }

    private struct Subscribers {
        var all: [ObjectIdentifier: any CommitSubscriber] = [:]
        /// The same, to be gone through without the lock; nil when there has been a change since.
        var list: [any CommitSubscriber]?
        /// How many times somebody was the first.
        var turn = 0
    }

    /// How often other processes' commits are looked for while somebody observes.
    private static let pollNanoseconds: UInt64 = 50_000_000

    private let source: Source
    private let state: Mutex<State>
    private let subscribers = Mutex(Subscribers())
    private let subscriberCount = Atomic<Int>(0)
    private let imageWanterCount = Atomic<Int>(0)
    let thread = SerialThread(name: "roost.bus")

    /// `sequence` is the file's last commit.
    init(sequence: UInt64, source: Source) {
        self.source = source
        state = Mutex(State(tracker: CommitTracker(sequence: sequence)))
    }

    // MARK: Subscribers

    /// Whether a write should keep the records before and after.
    var wantsImages: Bool { imageWanterCount.load(ordering: .acquiring) > 0 }

    /// Adds a subscriber. Commits that stand when this is called may or may not be delivered to it: it reads a snapshot
    /// afterwards and drops what the snapshot holds.
    func subscribe(_ subscriber: any CommitSubscriber) {
        let turn = subscribers.withLock { $0.all.isEmpty ? $0.turn : nil }
        // Read without the lock: it may wait for a reader, and who has one may be about to unsubscribe.
        let last = turn == nil ? nil : try? source.lastCommit().sequence
        subscribers.withLock { subscribers in
            if let last, subscribers.all.isEmpty, subscribers.turn == turn {
                // What others committed while nobody followed is no news.
                state.withLock { $0.tracker.skip(to: last) }
            }
            guard subscribers.all.updateValue(subscriber, forKey: ObjectIdentifier(subscriber)) == nil else { return }
            subscribers.list = nil
            if subscriber.wantsImages { imageWanterCount.add(1, ordering: .acquiringAndReleasing) }
            subscriberCount.add(1, ordering: .acquiringAndReleasing)
            if subscribers.all.count == 1 {
                subscribers.turn += 1
                thread.repeating(every: Self.pollNanoseconds) { [weak self] in self?.poll() }
            }
        }
    }

    /// Removes a subscriber; one delivery to it may still be under way.
    func unsubscribe(_ subscriber: any CommitSubscriber) {
        subscribers.withLock { subscribers in
            guard subscribers.all.removeValue(forKey: ObjectIdentifier(subscriber)) != nil else { return }
            subscribers.list = nil
            if subscriber.wantsImages { imageWanterCount.subtract(1, ordering: .acquiringAndReleasing) }
            subscriberCount.subtract(1, ordering: .acquiringAndReleasing)
            if subscribers.all.isEmpty { thread.repeating(every: Self.pollNanoseconds, nil) }
        }
    }

    private var subscriberList: [any CommitSubscriber] {
        subscribers.withLock { subscribers in
            if let list = subscribers.list { return list }
            let list = Array(subscribers.all.values)
            subscribers.list = list
            return list
        }
    }

    // MARK: This process's commits

    /// Called by the writer inside the transaction that will commit as `sequence`. Followed by one of the other two.
    func ownCommitBegins(_ sequence: UInt64) { change { $0.ownCommitBegins(sequence) } }

    /// Called by the writer when its transaction has ended without a commit.
    func ownWriteEndsWithoutCommit() { change { $0.ownWriteEndsWithoutCommit() } }

    /// Called by the writer, in the order of its commits.
    func ownCommitCompleted(_ commit: CommitRecord) {
        change(own: commit) { $0.ownCommitCompleted(commit.sequences.upperBound) }
    }

    // MARK: Other processes' commits

    /// Looks for other processes' commits; publishes that anything may have changed. Opens no transaction unless LMDB's number
    /// says that there was one since the last.
    private func poll() {
        guard let newest = source.newestSnapshot(),
            state.withLock({ $0.tracker.isWorthReading(newestSnapshot: newest) })
        else { return }
        do {
            let last = try source.lastCommit()
            change { $0.read(last.sequence, inSnapshot: last.snapshot) }
            state.withLock { $0.hasFailed = false }
        } catch {
            guard source.newestSnapshot() != nil else { return }
            let isFirst = state.withLock { state in
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            if isFirst {
                Diagnostics.report(
                    .pollFailed, "Other processes' commits cannot be seen; they are looked for again: \(error)")
            }
        }
    }

    // MARK: Delivery

    /// Queues what an event lets be published.
    private func change(own: CommitRecord? = nil, _ event: (inout CommitTracker) -> CommitTracker.Action) {
        let isToSchedule = state.withLock { state in
            let action = event(&state.tracker)
            // Who subscribes from now on reads a snapshot that holds these commits.
            guard subscriberCount.load(ordering: .acquiring) > 0 else { return false }
            if let foreign = action.foreign { state.pending.append(Self.record(of: foreign)) }
            if let own { state.pending.append(own) }
            if let later = action.later { state.pending.append(Self.record(of: later)) }
            guard !state.pending.isEmpty, !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        if isToSchedule { schedule() }
    }

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
            var withoutImages = commit
            withoutImages.dropImages()
            for subscriber in subscriberList {
                subscriber.receive(subscriber.wantsImages ? commit : withoutImages)
            }
        }
        let goesOn = state.withLock { state in
            state.isScheduled = !state.pending.isEmpty
            return state.isScheduled
        }
        if goesOn { schedule() }
    }

    /// Bytes of what waits for the thread: of the rows, and of the objects' records.
    var pendingBytes: (rows: Int, images: Int) { state.withLock { ($0.pending.byteCount, $0.pending.imageBytes) } }

    /// Waits until everything that was published before has been delivered. On the bus's own thread it does nothing.
    func drain() {
        if thread.isCurrent || state.withLock({ !$0.isScheduled }) { return }
        thread.sync { [weak self] in self?.deliver() }
    }
}
