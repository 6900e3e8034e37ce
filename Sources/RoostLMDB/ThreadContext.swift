// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The transactions that are running on the current thread, innermost first.
///
/// A read inside a read of the same environment joins it, a read inside a write sees the write's own state only through
/// its transaction, and closing an environment from inside one of its own transactions is refused. All three need to
/// know what this thread is doing; a pthread key is one load.
final class ThreadContext {
    let transaction: Transaction
    /// Nil while the frame is not on a thread's stack; while it is, whoever began the transaction holds both alive.
    unowned(unsafe) var environment: Environment?
    unowned(unsafe) var outer: ThreadContext?

    init(_ transaction: Transaction) { self.transaction = transaction }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "internal inconsistency: no thread-specific key left")
        return key
    }()

    /// Unretained: the frame that set it keeps it alive and restores the outer one before it returns.
    static var current: ThreadContext? {
        get {
            guard let pointer = pthread_getspecific(key) else { return nil }
            return Unmanaged<ThreadContext>.fromOpaque(pointer).takeUnretainedValue()
        }
        set { pthread_setspecific(key, newValue.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }) }
    }

    /// The innermost transaction of `environment` on this thread.
    static func transaction(of environment: Environment) -> Transaction? {
        var context = current
        while let frame = context {
            if frame.environment === environment { return frame.transaction }
            context = frame.outer
        }
        return nil
    }

    /// Whether this thread is inside a transaction of the environment in `directory`.
    static func isBusy(in directory: FileIdentity) -> Bool {
        var context = current
        while let frame = context {
            if frame.environment?.place == directory { return true }
            context = frame.outer
        }
        return false
    }

    /// Whether one of this thread's transactions is a write of `environment`, whatever was begun inside it.
    static func isWriting(_ environment: Environment) -> Bool {
        var context = current
        while let frame = context {
            if frame.environment === environment && frame.transaction.isWrite { return true }
            context = frame.outer
        }
        return false
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
