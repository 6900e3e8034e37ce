// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A thread of the system's own: how every thread of Roost's begins.
enum NativeThread {
    private final class Body {
        let run: () -> Void
        let name: String?

        init(_ name: String?, _ run: @escaping () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Runs `body` on a new thread with the system's usual stack, of which nothing is left when it returns. False when the
    /// system grants none; Foundation's `Thread` would not say so.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        create(Body(name, body)) { attributes in
            pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        }.code == 0
    }

    /// Runs `body` on a new thread with so large a stack, and waits until it has ended and the stack is given back. Returns
    /// the system's code, and nothing is run, when it grants none; else zero.
    static func run(stackBytes: Int, _ body: () -> Void) -> Int32 {
        withoutActuallyEscaping(body) { body in
            let (thread, code) = create(Body(nil, body)) { attributes in
                pthread_attr_setstacksize(&attributes, stackBytes)
            }
            if let thread { pthread_join(thread, nil) }
            return code
        }
    }

    /// `configure` returns a code as well.
    private static func create(
        _ body: Body, _ configure: (inout pthread_attr_t) -> Int32
    ) -> (thread: pthread_t?, code: Int32) {
        var attributes = pthread_attr_t()
        var code = pthread_attr_init(&attributes)
        guard code == 0 else { return (nil, code) }
        defer { pthread_attr_destroy(&attributes) }
        code = configure(&attributes)
        guard code == 0 else { return (nil, code) }
        let context = Unmanaged.passRetained(body)
        #if canImport(Darwin)
            var thread: pthread_t?
            code = pthread_create(&thread, &attributes, { Self.run($0) }, context.toOpaque())
        #else
            var thread = pthread_t()
            code = pthread_create(&thread, &attributes, { $0.flatMap { Self.run($0) } }, context.toOpaque())
        #endif
        if code == 0 { return (thread, 0) }
        context.release()
        return (nil, code)
    }

    private static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
        if let name = body.name { Thread.current.name = name }
        body.run()
        return nil
    }
}
