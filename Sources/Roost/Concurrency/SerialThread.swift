// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A thread of the store's own that runs what it is given, one after the other, in order. Unlike a dispatch queue it cannot
/// be held up by blocks of others that never return, and unlike a pool of one thread it repeats work by a clock.
///
/// The thread is started by the first work and ends when the owner lets go of it, after what waits has run.
///
/// Mutable state, guarded by the core's `condition`: what waits, what is repeated and when it is due, whether the thread has
/// been started, whether it is to end.
final class SerialThread: Sendable {
    private let core: Core

    init(name: String) { core = Core(name: name) }

    deinit { core.stop() }

    /// Runs `work` after all that was given before. Costs a lock and, when the thread is idle, waking it. False, and nothing is
    /// run, when there is no thread yet and the system grants none.
    @discardableResult
    func async(_ work: @escaping @Sendable () -> Void) -> Bool { core.add(work) }

    /// Whether this is the thread.
    var isCurrent: Bool { core.isCurrent }

    /// Runs `work` there every `nanoseconds` from now on, between what it is given; nil ends that. There is one such work.
    func repeating(every nanoseconds: UInt64, _ work: (@Sendable () -> Void)?) {
        core.setRepeated(every: nanoseconds, work)
    }

    /// Runs `work` there and waits for its end. Not to be called on the thread itself, which would wait for itself. Where no
    /// thread is to be had nothing was ever given to it: `work` runs here.
    func sync(_ work: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        let isGiven = core.add {
            work()
            done.signal()
        }
        if isGiven { done.wait() } else { work() }
    }

    /// Unchecked: the compiler cannot tell that `condition` is held wherever the rest is used.
    private final class Core: @unchecked Sendable {
        private let name: String
        private let condition = MonotonicCondition()
        private var waiting: [@Sendable () -> Void] = []
        private var repeated: (work: @Sendable () -> Void, interval: UInt64, due: UInt64)?
        private var isStarted = false
        /// Whether the thread waits, or will at once: else it needs no signal, and finds what there is by itself.
        private var isWaiting = false
        private var identity: pthread_t?
        private var isStopped = false

        init(name: String) { self.name = name }

        func add(_ work: @escaping @Sendable () -> Void) -> Bool {
            let (isGiven, isToWake) = condition.withLock { () -> (Bool, Bool) in
                start()
                if isStarted { waiting.append(work) }
                defer { isWaiting = false }
                return (isStarted, isWaiting)
            }
            // Without the lock, for which the thread would wait as soon as it is awake.
            if isToWake { condition.signal() }
            return isGiven
        }

        var isCurrent: Bool {
            condition.withLock { identity.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
        }

        func setRepeated(every interval: UInt64, _ work: (@Sendable () -> Void)?) {
            condition.withLock {
                repeated = work.map { ($0, interval, MonotonicCondition.now + interval) }
                start()
                condition.signal()
            }
        }

        /// Where the system grants no thread it is asked again with the next work.
        private func start() {
            if !isStarted { isStarted = NativeThread.start(name) { self.run() } }
        }

        func stop() {
            condition.withLock {
                isStopped = true
                condition.signal()
            }
        }

        private func run() {
            condition.withLock { identity = pthread_self() }
            while let work = next() {
                for piece in work { piece() }
            }
        }

        private func next() -> [@Sendable () -> Void]? {
            condition.withLock {
                while true {
                    var work = waiting
                    waiting = []
                    if let repeated, !isStopped, MonotonicCondition.now >= repeated.due {
                        work.append(repeated.work)
                        self.repeated?.due = MonotonicCondition.now + repeated.interval
                    }
                    if !work.isEmpty { return work }
                    if isStopped { return nil }
                    isWaiting = true
                    defer { isWaiting = false }
                    if let repeated { condition.wait(until: repeated.due) } else { condition.wait() }
                }
            }
        }
    }
}
