// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A thread of the system's own, with the system's usual stack.
enum NativeThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        let name: String

        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Runs `body` on a new thread, of which nothing is left when it returns. False when the system grants none; Foundation's
    /// `Thread` would not say so.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        guard pthread_attr_init(&attributes) == 0 else { return false }
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let context = Unmanaged.passRetained(Body(name, body))
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(&thread, &attributes, { Self.run($0) }, context.toOpaque())
        #else
            var thread = pthread_t()
            let code = pthread_create(&thread, &attributes, { $0.flatMap { Self.run($0) } }, context.toOpaque())
        #endif
        if code != 0 { context.release() }
        return code == 0
    }

    private static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
        Thread.current.name = body.name
        body.run()
        return nil
    }
}
