// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Whether somebody who waits for a thread's work has been cancelled. Set from any thread, at most once.
///
/// Mutable state: `flag` (atomic), read by every loop over rows; `waiting` (mutex), what wakes the thread when it waits.
package final class CancellationFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    private let waiting = Mutex<DispatchSemaphore?>(nil)

    package init() {}

    package var isSet: Bool { flag.load(ordering: .acquiring) }

    /// Also wakes the thread that runs under this flag from its wait for a reader or for its turn to write.
    package func set() {
        flag.store(true, ordering: .releasing)
        waiting.withLock { $0 }?.signal()
    }

    /// Runs `body` on this thread with everything that it reads ending soon after the flag was set.
    package func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = Self.current
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.key, outer.map { Unmanaged.passUnretained($0).toOpaque() }) }
        return try withExtendedLifetime(self, body)
    }

    fileprivate static var current: CancellationFlag? {
        // Who sets it holds the flag until the outer one is back.
        pthread_getspecific(key).map { Unmanaged<CancellationFlag>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "internal inconsistency: no thread-specific key left")
        return key
    }()

    /// Waits until `semaphore` is signalled or the flag is set.
    fileprivate func wait(for semaphore: DispatchSemaphore) {
        waiting.withLock { $0 = semaphore }
        // Set before the semaphore was known: nobody else will signal it for that.
        if !isSet { semaphore.wait() }
        waiting.withLock { $0 = nil }
    }
}

/// Whether what this thread does is still wanted.
package enum Cancellation {
    /// True when the flag that the thread runs under is set, or the task that runs on it is cancelled. Never inside a write,
    /// which runs to its end once its body has begun. A few nanoseconds.
    package static var isRequested: Bool {
        guard CancellationFlag.current?.isSet == true || Task.isCancelled else { return false }
        return !ThreadContext.isInsideWrite
    }

    /// How long a task that is cancelled while it blocks its thread goes on waiting: nothing can wake it.
    private static let pollInterval = DispatchTimeInterval.milliseconds(5)

    /// Waits for `semaphore`, and gives up when cancellation is requested. Returns whether it was; the semaphore may have
    /// been signalled all the same.
    package static func isRequested(whileWaitingFor semaphore: DispatchSemaphore) -> Bool {
        if ThreadContext.isInsideWrite {
            semaphore.wait()
            return false
        }
        if let flag = CancellationFlag.current {
            flag.wait(for: semaphore)
        } else if withUnsafeCurrentTask(body: { $0 != nil }) {
            while !Task.isCancelled, semaphore.wait(timeout: .now() + pollInterval) == .timedOut {}
        } else {
            semaphore.wait()
        }
        return isRequested
    }
}

extension LMDBError {
    /// Beyond LMDB's own codes and the system's.
    private static let cancelledCode = Int32.min

    /// What a read throws instead of going on when it is no longer wanted.
    package static var cancelled: LMDBError { LMDBError(code: cancelledCode, operation: "read") }

    package var isCancellation: Bool { code == Self.cancelledCode }
}
