// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization

/// Nanoseconds of the system's monotonic clock, the same in every process.
func monotonicNow() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// Follows a live value on a task of its own, off the main actor, and says when each arrived.
final class Follower<Value: Sendable> {
    struct Arrival: Sendable {
        var value: Value
        /// When the consumer had it, before anything else was done with it.
        var time: UInt64
    }

    private let task: Task<Void, Never>
    private var arrivals: AsyncThrowingStream<Arrival, any Error>.AsyncIterator
    /// How many values came in all.
    private(set) var count = 0
    private(set) var last: Value?

    init<Values: AsyncSequence & Sendable>(_ values: Values) where Values.Element == Value {
        let (stream, continuation) = AsyncThrowingStream<Arrival, any Error>.makeStream()
        arrivals = stream.makeAsyncIterator()
        task = Task.detached {
            do {
                for try await value in values {
                    continuation.yield(Arrival(value: value, time: monotonicNow()))
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }

    deinit { task.cancel() }

    /// The next value, or the next that is what is waited for.
    /// The program ends where it does not come within a minute.
    func next(_ isExpected: (Value) -> Bool = { _ in true }) async throws -> Arrival {
        Watchdog.begin()
        defer { Watchdog.end() }
        while let arrival = try await arrivals.next() {
            count += 1
            last = arrival.value
            if isExpected(arrival.value) { return arrival }
        }
        throw BenchmarkError("a live value ended before what was waited for")
    }

    func stop() { task.cancel() }
}

/// Ends the program when a value is waited for too long: one that never comes is a failure. It only looks once a second, so
/// that it is no part of what is measured.
enum Watchdog {
    private static let waitingSince = Atomic<UInt64>(0)
    private static let limit: UInt64 = 60_000_000_000

    static func start() {
        Thread.detachNewThread {
            while true {
                sleep(1)
                let since = waitingSince.load(ordering: .relaxed)
                guard since > 0, monotonicNow() - min(since, monotonicNow()) > limit else { continue }
                try? FileHandle.standardError.write(contentsOf: Data("roost-bench: a live value did not come\n".utf8))
                exit(1)
            }
        }
    }

    static func begin() { waitingSince.store(monotonicNow(), ordering: .relaxed) }
    static func end() { waitingSince.store(0, ordering: .relaxed) }
}

/// What a series of commits, each followed by its value, took.
struct Delivery {
    /// From the call of `write` to its return.
    var commits = Times()
    /// From the return of `write` to the value; 0 where the value was faster.
    var beyond = Times()
    /// From the call of `write` to the value.
    var total = Times()
}

/// Commits, waits for the value that shows it, rests for a moment so that threads go to sleep as they do in a program,
/// and so on; within `seconds`, but at least three times.
func deliver<Value>(
    _ follower: Follower<Value>, samples: Int, seconds: Double = 5, rest: UInt32 = 200,
    commit: (Int) throws -> Void, isExpected: (Value, Int) -> Bool
) async throws -> Delivery {
    var delivery = Delivery()
    let began = monotonicNow()
    for sample in 0..<samples {
        if sample >= 3, Double(monotonicNow() - began) > seconds * 1e9 { break }
        let start = monotonicNow()
        try commit(sample)
        let committed = monotonicNow()
        let arrival = try await follower.next { isExpected($0, sample) }
        delivery.commits.add(committed - start)
        delivery.beyond.add(arrival.time - min(arrival.time, committed))
        delivery.total.add(arrival.time - start)
        if rest > 0 { usleep(rest) }
    }
    return delivery
}

/// Two bare hops from task to task: one resumes the second, which resumes the third. At rest in between, like `deliver`.
func bareHops(samples: Int, rest: UInt32 = 200) async throws -> Times {
    var times = Times()
    let (first, startFirst) = AsyncStream<Void>.makeStream()
    let (second, startSecond) = AsyncStream<Void>.makeStream()
    let (ends, end) = AsyncStream<UInt64>.makeStream()
    let tasks = [
        Task.detached { for await _ in first { startSecond.yield() } },
        Task.detached { for await _ in second { end.yield(monotonicNow()) } },
    ]
    var arrivals = ends.makeAsyncIterator()
    for _ in 0..<samples {
        if rest > 0 { usleep(rest) }
        let start = monotonicNow()
        startFirst.yield()
        guard let time = await arrivals.next() else { break }
        times.add(time - start)
    }
    for task in tasks { task.cancel() }
    return times
}
