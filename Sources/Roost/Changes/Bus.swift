// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Publishes every commit, in order, after it stands: this process's as they happen, other processes' as they are noticed.
///
/// Mutable state, guarded by `state`: the subscribers, and the last sequence that was published or need not be. Deliveries
/// run on `queue`, one at a time, so a slow subscriber delays others but never the writer.
final class Bus: Sendable {
    private struct State {
        var lastSequence: UInt64
        /// The sequence that this process is committing now; not to be taken for another process's.
        var inFlight: UInt64?
        var subscribers: [ObjectIdentifier: any CommitSubscriber] = [:]
        var imageWanters = 0
        var timer: (any DispatchSourceTimer)?
        var poll: (@Sendable () -> UInt64?)?
    }

    /// How often other processes' commits are looked for while somebody observes.
    static let pollInterval = DispatchTimeInterval.milliseconds(50)

    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "roost.bus")

    init(sequence: UInt64) { state = Mutex(State(lastSequence: sequence)) }

    /// Whether a write should keep the records before and after.
    var wantsImages: Bool { state.withLock { $0.imageWanters > 0 } }

    /// Adds a subscriber. Commits that stand when this returns may or may not be delivered to it: it reads a snapshot
    /// afterwards and drops what the snapshot holds.
    ///
    /// `poll` returns the file's last sequence when a commit happened since it was last asked, else nil.
    func subscribe(_ subscriber: any CommitSubscriber, poll: @escaping @Sendable () -> UInt64?) {
        state.withLock { state in
            state.subscribers[ObjectIdentifier(subscriber)] = subscriber
            if subscriber.wantsImages { state.imageWanters += 1 }
            if state.timer == nil {
                let timer = DispatchSource.makeTimerSource(queue: queue)
                timer.schedule(deadline: .now() + Self.pollInterval, repeating: Self.pollInterval)
                timer.setEventHandler { [weak self] in self?.pollNow() }
                timer.resume()
                state.timer = timer
                state.poll = poll
            }
        }
    }

    func unsubscribe(_ subscriber: any CommitSubscriber) {
        state.withLock { state in
            guard state.subscribers.removeValue(forKey: ObjectIdentifier(subscriber)) != nil else { return }
            if subscriber.wantsImages { state.imageWanters -= 1 }
            if state.subscribers.isEmpty {
                state.timer?.cancel()
                state.timer = nil
                state.poll = nil
            }
        }
    }

    /// Called by the writer inside the transaction that will commit as `sequence`. Followed by `publish` or `abandon`.
    func willCommit(_ sequence: UInt64) { state.withLock { $0.inFlight = sequence } }

    /// Called by the writer when the commit that was announced failed.
    func abandon() { state.withLock { $0.inFlight = nil } }

    /// Called by the writer, in the order of its commits. A gap before the commit's sequence means that other processes
    /// committed in between: they are published first.
    func publish(_ commit: CommitRecord) {
        let deliveries = state.withLock { state -> [(CommitRecord, [any CommitSubscriber])] in
            let last = state.lastSequence
            if !commit.isForeign { state.inFlight = nil }
            guard commit.sequences.upperBound > last else { return [] }
            state.lastSequence = commit.sequences.upperBound
            guard !state.subscribers.isEmpty else { return [] }
            let subscribers = Array(state.subscribers.values)
            var deliveries: [(CommitRecord, [any CommitSubscriber])] = []
            if commit.sequences.lowerBound > last + 1 {
                deliveries.append((Self.foreign(last + 1, commit.sequences.lowerBound - 1), subscribers))
            }
            deliveries.append((commit, subscribers))
            return deliveries
        }
        guard !deliveries.isEmpty else { return }
        queue.async {
            for (commit, subscribers) in deliveries {
                for subscriber in subscribers { subscriber.receive(commit) }
            }
        }
    }

    /// Looks for other processes' commits; publishes that anything may have changed.
    private func pollNow() {
        guard let poll = state.withLock({ $0.poll }), let sequence = poll() else { return }
        let (last, inFlight) = state.withLock { ($0.lastSequence, $0.inFlight) }
        let end = min(sequence, (inFlight ?? .max) - 1)
        if end > last { publish(Self.foreign(last + 1, end)) }
    }

    /// Waits for the deliveries that are under way, so that nothing of the environment is touched afterwards.
    func drain() { queue.sync {} }

    /// Publishes that anything may have changed, up to `sequence`.
    private static func foreign(_ first: UInt64, _ last: UInt64) -> CommitRecord {
        CommitRecord(sequences: first...last, isForeign: true, changes: nil)
    }
}
