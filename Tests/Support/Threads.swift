// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization

/// Runs `body` on `count` threads of their own and returns when all have ended; throws the first error. Unlike tasks,
/// threads may wait for one another.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let group = DispatchGroup()
    let failure = Mutex<(any Error)?>(nil)
    for index in 0..<count {
        group.enter()
        let thread = Thread {
            do {
                try body(index)
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
            group.leave()
        }
        thread.start()
    }
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
}

/// Something that happens once, and that threads can wait for.
package final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    package init() {}
    package func send() { semaphore.signal() }
    package func wait() {
        semaphore.wait()
        semaphore.signal()
    }
}

/// Runs `body` on a thread with as small a stack as any that a program has, and waits for its end.
package func onSmallStack<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
    let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
    let done = Signal()
    let thread = Thread {
        let result = Swift.Result { try body() }
        outcome.withLock { $0 = result }
        done.send()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
    guard let result = outcome.withLock({ $0 }) else { throw CancellationError() }
    return try result.get()
}
