// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A stack for recursion as deep as what a caller handed in.
///
/// A predicate's operands are nested types, which only a recursion can go through; the caller's thread may have 512 KiB. Its
/// memory is reserved, and committed only as far as it is used.
enum LargeStack {
    static let bytes = 512 << 20

    /// Runs `body` on a thread with a large stack and waits for its end: some ten microseconds. What depends on the thread
    /// (a transaction, an actor's isolation) does not belong there.
    ///
    /// Throws what `body` throws, and `system` when there is no thread to be had.
    static func run<Result>(_ body: () throws -> Result) throws -> Result { try run(bytes, body) }

    /// The same for what is hardly ever deep: where the address space is short, a smaller stack does.
    static func runHardlyDeep<Result>(_ body: () throws -> Result) throws -> Result {
        for size in [bytes, bytes / 8] {
            do {
                return try run(size, body)
            } catch let error as StoreError where error.code == .system {}
        }
        return try run(bytes / 64, body)
    }

    private static func run<Result>(_ size: Int, _ body: () throws -> Result) throws -> Result {
        try withoutActuallyEscaping(body) { body in
            let work = Work(body: body)
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            defer { pthread_attr_destroy(&attributes) }
            pthread_attr_setstacksize(&attributes, size)
            #if canImport(Darwin)
                var thread: pthread_t?
            #else
                var thread = pthread_t()
            #endif
            let argument = Unmanaged.passRetained(work as Runnable)
            let code = pthread_create(&thread, &attributes, startRoutine, argument.toOpaque())
            guard code == 0 else {
                argument.release()
                throw StoreError(
                    .system, "A predicate this deep needs a thread of its own, which the system refuses.", cause: code)
            }
            #if canImport(Darwin)
                if let thread { pthread_join(thread, nil) }
            #else
                pthread_join(thread, nil)
            #endif
            return try work.result()
        }
    }

    private class Runnable {
        func run() {}
    }

    private final class Work<Result>: Runnable {
        private let body: () throws -> Result
        private var outcome: Swift.Result<Result, any Error>?

        init(body: @escaping () throws -> Result) { self.body = body }

        override func run() { outcome = Swift.Result { try body() } }

        func result() throws -> Result {
            guard let outcome else { throw StoreError(.system, "A thread ended before its work.") }
            return try outcome.get()
        }
    }

    #if canImport(Darwin)
        private static let startRoutine: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
            Unmanaged<Runnable>.fromOpaque($0).takeRetainedValue().run()
            return nil
        }
    #else
        private static let startRoutine: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
            if let argument = $0 { Unmanaged<Runnable>.fromOpaque(argument).takeRetainedValue().run() }
            return nil
        }
    #endif
}
