// SPDX-License-Identifier: Apache-2.0

#if ROOST_THREAD_SANITIZER
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// Stands in for the standard library's Mutex when the thread sanitizer watches: on Linux that one is a futex, in code
    /// that the sanitizer does not see, so that everything it guards looks like a race. This one is the sanitizer's own.
    ///
    /// Unchecked: `value` is plain memory, touched only while `lock` is held.
    package struct SanitizedMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

        package init(_ initial: consuming sending Value) {
            lock.initialize(to: pthread_mutex_t())
            pthread_mutex_init(lock, nil)
            value.initialize(to: initial)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }

        /// Nil when somebody holds it.
        package borrowing func withLockIfAvailable<Result, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard pthread_mutex_trylock(lock) == 0 else { return nil }
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }

    typealias Mutex = SanitizedMutex
#endif
