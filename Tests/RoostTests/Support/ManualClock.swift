// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import Roost

/// A clock that stands still: who sleeps by it is woken by the test.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    let now = Instant(offset: .zero)
    let minimumResolution = Duration.zero
    private let sleeper = Mutex<Promise<Void>?>(nil)
    private let (requests, requesting) = AsyncStream<Duration>.makeStream()

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let promise = Promise<Void>()
        sleeper.withLock { $0 = promise }
        requesting.yield(deadline.offset)
        try await withTaskCancellationHandler {
            try await promise.value()
        } onCancel: {
            promise.cancel()
        }
    }

    /// Waits until somebody sleeps, and says for how long he means to.
    func nextSleep() async -> Duration? {
        for await request in requests { return request }
        return nil
    }

    func wake() { sleeper.withLock { $0 }?.fulfil(.success(())) }
}
