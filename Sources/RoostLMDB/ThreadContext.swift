// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// One transaction that is running on a thread, in plain memory: who began the transaction owns the frame, and holds
/// transaction and environment alive while the frame is on the thread's list.
struct ThreadFrame {
    unowned(unsafe) let transaction: Transaction
    unowned(unsafe) var environment: Environment?
    var outer: UnsafeMutablePointer<ThreadFrame>?
}

/// The transactions that are running on the current thread, innermost first.
///
/// A read inside a transaction of the same environment joins it, a write inside a write is refused, and so is closing an
/// environment from inside one of its own transactions. All three need to know what this thread is doing; a pthread key is
/// one load.
enum ThreadContext {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "internal inconsistency: no thread-specific key left")
        return key
    }()

    /// Who sets a frame puts back the outer one before it returns.
    static var current: UnsafeMutablePointer<ThreadFrame>? {
        get { pthread_getspecific(key)?.assumingMemoryBound(to: ThreadFrame.self) }
        set { pthread_setspecific(key, newValue) }
    }

    /// The innermost frame of `environment` on this thread.
    static func innermost(of environment: Environment) -> UnsafeMutablePointer<ThreadFrame>? {
        first { $0.environment === environment }
    }

    /// Whether this thread is inside a transaction of the environment in `directory`.
    static func isBusy(in directory: FileIdentity) -> Bool { first { $0.environment?.place == directory } != nil }

    /// Whether one of this thread's transactions is a write of `environment`, whatever was begun inside it.
    static func isWriting(_ environment: Environment) -> Bool {
        first { $0.environment === environment && $0.transaction.isWrite } != nil
    }

    /// Whether one of this thread's transactions is a write, of any environment.
    static var isInsideWrite: Bool { first { $0.transaction.isWrite } != nil }

    @inline(__always)
    private static func first(where matches: (ThreadFrame) -> Bool) -> UnsafeMutablePointer<ThreadFrame>? {
        var frame = current
        while let candidate = frame {
            if matches(candidate.pointee) { return candidate }
            frame = candidate.pointee.outer
        }
        return nil
    }
}

/// Milliseconds of a clock that never goes back; coarse where the system has a cheap coarse one.
func monotonicMilliseconds() -> UInt64 {
    var time = timespec()
    #if os(Linux)
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    #else
        clock_gettime(CLOCK_MONOTONIC, &time)
    #endif
    return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
}
