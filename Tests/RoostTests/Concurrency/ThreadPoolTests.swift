// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

struct ThreadPoolTests {
    private final class Level: Sendable {
        private let levels = Mutex((now: 0, most: 0))
        var most: Int { levels.withLock { $0.most } }
        func enter() { levels.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
        func leave() { levels.withLock { $0.now -= 1 } }
    }

    @Test func usersWorkGoesBeforeObserversThatWaitedLonger() async throws {
        let pool = ThreadPool(name: "test", size: .init(steady: 1, limit: 1))
        let order = Log<String>()
        let release = DispatchSemaphore(value: 0)
        pool.async {
            release.wait()
        } fail: { _ in
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 { group.addTask { try await pool.run(.observers) { order.note("observer") } } }
            while pool.waiting < 5 { await Task.yield() }
            for _ in 0..<3 { group.addTask { try await pool.run(.users) { order.note("user") } } }
            while pool.waiting < 8 { await Task.yield() }
            release.signal()
            try await group.waitForAll()
        }
        #expect(order.noted == ["user", "user", "user"] + Array(repeating: "observer", count: 5))
    }

    @Test func observersLeaveOnePlaceToUsers() async throws {
        let pool = ThreadPool(name: "test", size: .init(steady: 3, limit: 3, reserved: 1))
        let release = DispatchSemaphore(value: 0)
        let running = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    try await pool.run(.observers) {
                        running.increment()
                        release.wait()
                    }
                }
            }
            while running.value < 2 || pool.waiting < 8 { await Task.yield() }
            // Observers hold all that they may; a user's work is done all the same.
            for _ in 0..<20 { try await pool.run(.users) {} }
            #expect(running.value == 2)
            for _ in 0..<10 { release.signal() }
            try await group.waitForAll()
        }
        #expect(running.value == 10)
        #expect(pool.threads <= 3)
    }

    @Test func aCancelledCallerLeavesTheQueueAtOnce() async throws {
        let pool = ThreadPool(name: "test", size: .init(steady: 1, limit: 1))
        let release = DispatchSemaphore(value: 0)
        pool.async {
            release.wait()
        } fail: { _ in
        }
        let tasks = (0..<100).map { _ in Task { try await pool.run { Issue.record("it was cancelled") } } }
        while pool.waiting < 100 { await Task.yield() }
        for task in tasks.reversed() { task.cancel() }
        for task in tasks { #expect(await failure(awaiting: { try await task.value }) is CancellationError) }
        #expect(pool.waiting == 0)
        release.signal()
        try await pool.run {}
    }

    @Test func workThatNeverEndsIsGivenOtherThreadsUpToTheLimit() async throws {
        let release = DispatchSemaphore(value: 0)
        let running = Counter()
        let (blocked, blocking) = AsyncStream<Void>.makeStream()
        let pool = ThreadPool(
            name: "test",
            size: .init(steady: 4, limit: 60, patience: .milliseconds(1), whenBlocked: { blocking.yield() }))
        for _ in 0..<80 {
            pool.async {
                running.increment()
                release.wait()
            } fail: { _ in
            }
        }
        // It is said once that the limit is reached.
        for await _ in blocked { break }
        while running.value < 60 { await Task.yield() }
        #expect(pool.waiting == 20)
        #expect(pool.threads == 60)
        for _ in 0..<80 { release.signal() }
        while running.value < 80 { await Task.yield() }
        try await pool.run {}
    }

    @Test func shortWorkIsNotGivenMoreThreadsThanItShallHave() async throws {
        let pool = ThreadPool(
            name: "test", size: .init(steady: 2, limit: 100, patience: .seconds(60)))
        let level = Level()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                group.addTask {
                    try await pool.run {
                        level.enter()
                        level.leave()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(level.most <= 2)
        #expect(pool.threads <= 2)
    }
}
