// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A lock with a condition that can be waited for with a timeout. Foundation's counts by the wall clock: when that is set back
/// by an hour, a wait of 50 ms takes an hour.
///
/// Unchecked: the two are given to the system's calls only, which are for all threads.
final class MonotonicCondition: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
            pthread_cond_init(condition, nil)
        #else
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    func signal() { pthread_cond_signal(condition) }

    /// Waits for a signal, with the lock held; it may also return without one.
    func wait() { pthread_cond_wait(condition, mutex) }

    /// The same, until `deadline` at the latest, in nanoseconds of `now`.
    func wait(until deadline: UInt64) {
        #if canImport(Darwin)
            let rest = deadline - min(deadline, Self.now)
            var time = timespec(tv_sec: Int(rest / 1_000_000_000), tv_nsec: Int(rest % 1_000_000_000))
            pthread_cond_timedwait_relative_np(condition, mutex, &time)
        #else
            var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
            pthread_cond_timedwait(condition, mutex, &time)
        #endif
    }

    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
