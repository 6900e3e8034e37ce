// SPDX-License-Identifier: Apache-2.0

import CPeers
import Foundation
import Roost
import Synchronization

/// Lists of IDs that are followed, one of whose objects changes.
extension LiveBench {
    mutating func measureResolvers() async throws {
        let count = min(arguments.count, 200_000)
        let store = try makeStore("resolvers", count: count)
        for size in [1_000, 100_000] where size <= count { try await measureResolver(store, size) }
        try await measureManyResolvers(store, count)
        try store.close()
    }

    private mutating func measureResolver(_ store: Store, _ size: Int) async throws {
        let resolver = try store.resolver(for: Item.self)
        let ids = (1...Int64(size)).map { $0 * 2 % Int64(size) + 1 }
        resolver.resolve(ids)
        let follower = Follower(resolver.values)
        _ = try await follower.next { $0.count == size }
        // Another one each time: an object that is as it was is no change.
        func price(_ sample: Int) -> Double { Double(20_000 + size + sample) }
        let before = store.readCounters
        let delivery = try await deliver(
            follower, samples: isSmoke ? 10 : 200,
            commit: { n in try update(store, ids[n * 37 % size]) { $0.price = price(n) } },
            isExpected: { objects, n in objects[n * 37 % size].price == price(n) })
        let cost = store.readCounters - before
        let values = Double(delivery.total.all.count)
        try demand(
            follower.last?.map(\.benchmarkHash) == (try getNow(store, ids)).map(\.benchmarkHash), "resolver_\(size)")
        figures.append(
            LiveFigure(
                row: "resolver_\(size)_read", value: Double(cost.recordsRead) / values, unit: "records", bar: 1,
                details: [.init(name: "snapshots", value: Double(cost.snapshots) / values)]))
        figures.append(
            LiveFigure(
                row: "resolver_\(size)", value: delivery.beyond.p50 / 1e6, unit: "ms", bar: size == 100_000 ? 0.2 : nil,
                details: [
                    .init(name: "p99_ms", value: delivery.beyond.p99 / 1e6),
                    .init(name: "commit_us", value: delivery.commits.p50 / 1_000),
                ]))
        follower.stop()
    }

    /// As many as a program has that shows rows, each of which shows twenty objects.
    private mutating func measureManyResolvers(_ store: Store, _ count: Int) async throws {
        let (number, size) = (isSmoke ? 200 : 5_000, 20)
        let commits = isSmoke ? 100 : 1_000
        // The last item is in no list.
        func commitTime() throws -> Double {
            var times = Times()
            for step in 0..<commits {
                let start = monotonicNow()
                try update(store, Int64(count)) { $0.price = Double(step % 900) }
                times.add(monotonicNow() - start)
            }
            return times.p50
        }
        let first = try commitTime()
        let heap = bench_heap_in_use()
        let began = monotonicNow()
        let values = Mutex(0)
        let counter = Box(values)
        var tasks: [Task<Void, Never>] = []
        for index in 0..<number {
            let resolver = try store.resolver(for: Item.self)
            resolver.resolve((0..<size).map { Int64((index * size + $0) % (count - 1)) + 1 })
            tasks.append(Task.detached { for await _ in resolver.values { counter.value.withLock { $0 += 1 } } })
        }
        while counter.value.withLock({ $0 }) < number { try await Task.sleep(for: .milliseconds(2)) }
        let installing = monotonicNow() - began
        let memory = bench_heap_in_use()
        let beside = try commitTime()
        var delivered = store.commits().makeAsyncIterator()
        // Nobody's object was changed: nobody may have got a value.
        try update(store, Int64(count)) { $0.price = 1 }
        _ = await delivered.next()
        let spurious = counter.value.withLock { $0 } - number
        figures.append(
            LiveFigure(row: "fetches_beside_\(number)_resolvers", value: Double(spurious), unit: "fetches", bar: 0))
        figures.append(
            LiveFigure(
                row: "resolver_of_20_memory", value: (Double(memory) - Double(heap)) / Double(number), unit: "bytes",
                details: [.init(name: "install_us", value: Double(installing) / Double(number) / 1_000)]))
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        let alone = min(first, try commitTime())
        figures.append(
            LiveFigure(
                row: "commit_beside_\(number)_resolvers", value: beside / alone, unit: "x of none",
                bar: number == 5_000 ? 1.5 : nil,
                details: [.init(name: "us", value: beside / 1_000), .init(name: "none_us", value: alone / 1_000)]))
    }
}

func getNow(_ store: Store, _ ids: [Int64]) throws -> [Item] { try store.get(Item.self, ids: ids) }

/// Something that cannot be copied, for several closures.
final class Box<Value: ~Copyable>: @unchecked Sendable {
    let value: Value
    init(_ value: consuming Value) { self.value = value }
}
