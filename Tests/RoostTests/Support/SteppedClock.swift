// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import Roost

/// A clock whose time the test moves on: who sleeps by it wakes when his time has come.
final class SteppedClock: Clock, Sendable {
    typealias Instant = ManualClock.Instant

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [(until: Instant, promise: Promise<Void>)] = []
    }

    let minimumResolution = Duration.zero
    private let state = Mutex(State())
    private let (requests, requesting) = AsyncStream<Duration>.makeStream()

    var now: Instant { state.withLock { $0.now } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let promise = Promise<Void>()
        let isOver = state.withLock { state in
            if deadline > state.now { state.sleepers.append((deadline, promise)) }
            return deadline <= state.now
        }
        if isOver { return }
        requesting.yield(deadline.offset)
        try await withTaskCancellationHandler {
            try await promise.value()
        } onCancel: {
            promise.cancel()
        }
    }

    /// Waits until somebody sleeps, and says until when.
    func nextSleep() async -> Duration? {
        for await request in requests { return request }
        return nil
    }

    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            defer { state.sleepers.removeAll { $0.until <= now } }
            return state.sleepers.filter { $0.until <= now }
        }
        for sleeper in woken { sleeper.promise.fulfil(.success(())) }
    }
}
