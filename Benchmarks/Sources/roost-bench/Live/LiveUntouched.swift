// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Synchronization

/// Live observers of many requests, each on a task of its own.
final class Crowd {
    /// Values that came in all, so fetches that were made.
    let values = Values()
    private var tasks: [Task<Void, Never>] = []

    final class Values: Sendable {
        private let number = Atomic<Int>(0)
        private let first = Atomic<Int>(0)
        private let failed = Atomic<Int>(0)
        var count: Int { number.load(ordering: .acquiring) }
        var ready: Int { first.load(ordering: .acquiring) }
        var failures: Int { failed.load(ordering: .acquiring) }
        fileprivate func add(isFirst: Bool) {
            number.add(1, ordering: .acquiringAndReleasing)
            if isFirst { first.add(1, ordering: .acquiringAndReleasing) }
        }
        fileprivate func fail() { failed.add(1, ordering: .acquiringAndReleasing) }
    }

    func observe(_ request: FetchDescriptor<Item>, in store: Store) {
        let values = values
        tasks.append(
            Task.detached {
                var isFirst = true
                do {
                    for try await _ in request.makeObserver({ $0.count }).values(store) {
                        values.add(isFirst: isFirst)
                        isFirst = false
                    }
                } catch {
                    values.fail()
                }
            })
    }

    /// Waits until each has its first value.
    func start() async throws {
        while values.ready < tasks.count {
            guard values.failures == 0 else { throw BenchmarkError("an observer ended with an error") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Cancels all and waits for their tasks. Returns how long that took.
    func stop() async -> UInt64 {
        let start = monotonicNow()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        tasks = []
        return monotonicNow() - start
    }
}

extension LiveBench {
    /// Every tenth item is changed, the others are watched: none of the observers' requests ever matches a changed one.
    private static func isTouched(_ id: Int64) -> Bool { id % 10 == 0 }

    /// Requests of the forms that programs follow, in turn.
    private func untouchedRequest(_ number: Int, of count: Int) -> FetchDescriptor<Item> {
        var id = Int64(number * 7 % count) + 1
        while Self.isTouched(id) { id = id % Int64(count) + 1 }
        let watched = item(id)
        let (name, type, created) = (watched.name, watched.itemType, watched.createdAt)
        switch number % 6 {
        case 0: return FetchDescriptor(predicate: #Predicate { $0.id == id })
        case 1: return FetchDescriptor(predicate: #Predicate { $0.name == name })
        case 2:
            let next = name + "~"
            return FetchDescriptor(predicate: #Predicate { $0.name >= name && $0.name < next })
        case 3:
            let later = created + 1
            return FetchDescriptor(
                predicate: #Predicate { $0.itemType == type && $0.createdAt >= created && $0.createdAt < later })
        case 4:
            // Without an index; no item's price is below 0.
            let (low, high) = (-Double(number) - 1, -Double(number))
            return FetchDescriptor(predicate: #Predicate { $0.price >= low && $0.price < high })
        default:
            let ids = (0..<20).map { (id + Int64($0) * 10 - 1) % Int64(count) + 1 }.filter { !Self.isTouched($0) }
            return FetchDescriptor(predicate: #Predicate { ids.contains($0.id) })
        }
    }

    mutating func measureUntouched() async throws {
        let count = min(arguments.count, 100_000)
        let store = try makeStore("untouched", count: count)
        let commits = isSmoke ? 200 : 2_000
        let samples = isSmoke ? 50 : 2_000
        let hops = try await bareHops(samples: samples)

        var without: [Double] = []
        func measureNone() throws { without.append(try commitTimes(store, count, commits).p50) }
        try measureNone()
        for number in isSmoke ? [10, 500] : [100, 10_000] {
            let crowd = Crowd()
            for index in 0..<number { crowd.observe(untouchedRequest(index, of: count), in: store) }
            try await crowd.start()
            try await measure(crowd, number, store, count, commits, samples, hops)
            let stopping = await crowd.stop()
            figures.append(LiveFigure(row: "cancel_\(number)_observers", value: Double(stopping) / 1e6, unit: "ms"))
            try measureNone()
        }
        // The fastest of what was measured around the crowds: what disturbs the machine makes none of them faster.
        let base = without.min() ?? 0
        for index in figures.indices where figures[index].row.hasPrefix("commit_beside_") {
            figures[index].add("none_us", base / 1_000)
            figures[index].value /= base
        }
        try await measureAlone(store, count, samples, hops)
        try store.close()
    }

    private func change(_ store: Store, _ count: Int, _ number: Int) throws {
        let touched = Int64(number % (count / 10)) * 10 + 10
        try update(store, touched) { $0.price = 2_000 + Double(number % 1_000) }
    }

    private func commitTimes(_ store: Store, _ count: Int, _ commits: Int) throws -> Times {
        var times = Times()
        for number in 0..<commits {
            let start = monotonicNow()
            try change(store, count, number)
            times.add(monotonicNow() - start)
        }
        return times
    }

    private mutating func measure(
        _ crowd: Crowd, _ number: Int, _ store: Store, _ count: Int, _ commits: Int, _ samples: Int, _ hops: Times
    ) async throws {
        let sentinel: Int64 = 10
        let small = Follower(
            FetchDescriptor<Item>(predicate: #Predicate { $0.id == sentinel }).makeObserver { $0.first?.price ?? 0 }
                .values(store))
        _ = try await small.next()
        // The sentinel is itself touched by every so many commits; what else was fetched is the crowd's.
        let before = crowd.values.count
        let began = monotonicNow()
        let times = try commitTimes(store, count, commits)
        let last = monotonicNow()
        try update(store, sentinel) { $0.price = -7 }
        let value = try await small.next { $0 == -7 }
        let fetches = crowd.values.count - before
        try update(store, sentinel) { $0.price = 7 }
        _ = try await small.next { $0 == 7 }

        figures.append(
            LiveFigure(
                row: "commit_beside_\(number)", value: times.p50, unit: "x of none",
                bar: number == 10_000 ? 1.5 : nil,
                details: [
                    .init(name: "us", value: times.p50 / 1_000), .init(name: "mean_us", value: times.mean / 1_000),
                    .init(name: "until_quiet_us", value: Double(value.time - began) / Double(commits) / 1_000),
                ]))
        figures.append(
            LiveFigure(row: "fetches_beside_\(number)", value: Double(fetches), unit: "fetches", bar: 0))
        figures.append(
            LiveFigure(
                row: "value_after_burst_beside_\(number)", value: Double(value.time - last) / 1e6, unit: "ms",
                details: [.init(name: "commits_in_burst", value: Double(commits))]))
        try await measureDelivery(small, "value_beside_\(number)", store, samples, hops, sentinel)
        small.stop()
        let fetched = crowd.values.count - before
        try demand(crowd.values.failures == 0, "an observer ended")
        try demand(fetched == fetches, "\(fetched - fetches) fetches of untouched observers while values were timed")
    }

    private mutating func measureAlone(_ store: Store, _ count: Int, _ samples: Int, _ hops: Times) async throws {
        let id: Int64 = 20
        let small = Follower(
            FetchDescriptor<Item>(predicate: #Predicate { $0.id == id }).makeObserver { $0.first?.price ?? 0 }
                .values(store))
        _ = try await small.next()
        try await measureDelivery(small, "value", store, samples, hops, id)
        small.stop()
        // The same request, kept up to date from what the commits say.
        let request = FetchDescriptor<Item>(predicate: #Predicate { $0.id == id })
        let live = Follower(LivePrices(values: request.makeLiveObserver().values(store)))
        _ = try await live.next()
        try await measureDelivery(live, "live_value", store, samples, hops, id)
        live.stop()
    }

    /// One small observer, whose object is changed again and again.
    private mutating func measureDelivery(
        _ small: Follower<Double>, _ row: String, _ store: Store, _ samples: Int, _ hops: Times, _ id: Int64
    ) async throws {
        let delivery = try await deliver(
            small, samples: samples, seconds: 10,
            commit: { n in try update(store, id) { $0.price = Double(5_000 + n) } },
            isExpected: { $0 == Double(5_000 + $1) })
        let fresh = try fetchNow(store, FetchDescriptor<Item>(predicate: #Predicate { $0.id == id })).first?.price
        try demand(small.last == fresh, "\(row): \(small.last ?? 0), a fetch gives \(fresh ?? 0)")
        let isBarred = row == "value"
        figures.append(
            LiveFigure(
                row: "\(row)_p50", value: delivery.beyond.p50 / 1_000, unit: "us", bar: isBarred ? 30 : nil,
                details: [
                    .init(name: "commit_us", value: delivery.commits.p50 / 1_000),
                    .init(name: "samples", value: Double(delivery.total.all.count)),
                ]))
        figures.append(
            LiveFigure(
                row: "\(row)_hops", value: delivery.beyond.p50 / max(1, hops.p50), unit: "x of 2 hops",
                bar: isBarred ? 2.5 : nil, details: [.init(name: "2_hops_us", value: hops.p50 / 1_000)]))
        figures.append(
            LiveFigure(
                row: "\(row)_p99", value: delivery.beyond.p99 / 1e6, unit: "ms", bar: isBarred ? 1 : nil,
                details: [.init(name: "2_hops_p99_ms", value: hops.p99 / 1e6)]))
    }
}

/// The price of the only object of a live result.
private struct LivePrices: AsyncSequence, Sendable {
    let values: LiveObserver<Item, LiveResult<Item>>.Values

    struct Iterator: AsyncIteratorProtocol {
        var results: LiveObserver<Item, LiveResult<Item>>.Iterator

        mutating func next() async throws -> Double? { try await results.next()?.objects.first?.price }
    }

    func makeAsyncIterator() -> Iterator { Iterator(results: values.makeAsyncIterator()) }
}
