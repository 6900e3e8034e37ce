// SPDX-License-Identifier: Apache-2.0

import CPeers
import Foundation
import Roost

func countsNow(_ store: Store, _ request: FetchDescriptor<Item>) throws -> [Int: Int] {
    try store.counts(request, by: \.itemType)
}

/// Counts and windows over the whole table, of which one object is changed.
extension LiveBench {
    mutating func measureMaintained() async throws {
        let count = arguments.count
        let store = try makeStore("maintained", count: count)
        let samples = isSmoke ? 20 : 500
        try await measureCount(store, samples)
        try await measureGroups(store, samples)
        try await measureWindow(store, samples)
        try store.close()
        try measureRecount(samples: isSmoke ? 5 : 30)
    }

    private mutating func add(
        _ row: String, _ delivery: Delivery, _ cost: ReadCounters, bar: Double? = 0.1, records: Double? = nil
    ) {
        let values = Double(delivery.total.all.count)
        figures.append(
            LiveFigure(
                row: row, value: delivery.beyond.p50 / 1e6, unit: "ms", bar: bar,
                details: [
                    .init(name: "p99_ms", value: delivery.beyond.p99 / 1e6),
                    .init(name: "with_commit_ms", value: delivery.total.p50 / 1e6),
                    .init(name: "samples", value: values),
                ]))
        figures.append(
            LiveFigure(
                row: row + "_read", value: Double(cost.recordsRead) / values, unit: "records", bar: records,
                details: [
                    .init(name: "index_entries", value: Double(cost.entriesVisited) / values),
                    .init(name: "snapshots", value: Double(cost.snapshots) / values),
                ]))
    }

    // MARK: Counts

    /// The number of items of a price, which no index has.
    private mutating func measureCount(_ store: Store, _ samples: Int) async throws {
        let request = FetchDescriptor<Item>(predicate: #Predicate { $0.price < 500 })
        let follower = Follower(request.makeCountObserver().values(store))
        let first = try await follower.next().value
        let ids = changedIDs { $0.price < 500 }
        let before = store.readCounters
        let delivery = try await deliver(
            follower, samples: samples,
            commit: { n in try update(store, ids[n]) { $0.price = 600 } },
            isExpected: { $0 == first - $1 - 1 })
        add("live_count", delivery, store.readCounters - before, records: 0)
        try demand(follower.last == (try countNow(store, request)), "live_count")
        follower.stop()
    }

    private mutating func measureGroups(_ store: Store, _ samples: Int) async throws {
        let request = FetchDescriptor<Item>()
        let follower = Follower(request.makeCountsObserver(by: \.itemType).values(store))
        let first = try await follower.next().value
        let (threes, fives) = (first[3] ?? 0, first[5] ?? 0)
        let ids = changedIDs { $0.itemType == 3 }
        let before = store.readCounters
        let delivery = try await deliver(
            follower, samples: samples,
            commit: { n in try update(store, ids[n]) { $0.itemType = 5 } },
            isExpected: { counts, n in counts[3] == threes - n - 1 && counts[5] == fives + n + 1 })
        add("live_count_grouped", delivery, store.readCounters - before, records: 0)
        try demand(follower.last == (try countsNow(store, request)), "live_count_grouped")
        follower.stop()
    }

    // MARK: A window

    private mutating func measureWindow(_ store: Store, _ samples: Int) async throws {
        var request = FetchDescriptor<Item>(
            predicate: #Predicate { $0.itemType == 3 }, sortBy: [SortDescriptor(\.createdAt, order: .reverse)])
        request.fetchLimit = 100
        let follower = Follower(request.makeLiveObserver().values(store))
        let first = try await follower.next().value
        // What the differences make of the first value, one after the other.
        var followed = Array(first.objects)
        func isNow(_ result: LiveResult<Item>, _ isExpected: (LiveObjects<Item>) -> Bool) -> Bool {
            followed = result.difference.applied(to: followed, taking: result.objects)
            return isExpected(result.objects)
        }
        // A member changes and keeps its place.
        let ids = first.objects.map(\.id)
        var before = store.readCounters
        let staying = try await deliver(
            follower, samples: samples,
            commit: { n in try update(store, ids[n % ids.count]) { $0.price = Double(10_000 + n) } },
            isExpected: { result, n in
                isNow(result) { $0[n % ids.count].price == Double(10_000 + n) }
            })
        add("live_window", staying, store.readCounters - before, records: 0)
        // The first leaves: what comes up at the end must be known or read, one record for each on the average.
        var longer = request
        longer.fetchLimit = 100 + samples + 1
        let leaving = try fetchNow(store, longer).map(\.id)
        before = store.readCounters
        let refilling = try await deliver(
            follower, samples: min(samples, leaving.count - 1),
            commit: { n in try update(store, leaving[n]) { $0.itemType = 9 } },
            isExpected: { result, n in isNow(result) { $0.first?.id == leaving[n + 1] } })
        add("live_window_out", refilling, store.readCounters - before, records: 1)
        // One comes in at the front, and the last falls out.
        let coming = changedIDs { $0.itemType == 7 }
        before = store.readCounters
        let moving = try await deliver(
            follower, samples: samples,
            commit: { n in
                try update(store, coming[n]) {
                    $0.itemType = 3
                    $0.createdAt = 1_800_000_000_000_000 + Int64(n)
                }
            }, isExpected: { result, n in isNow(result) { $0.first?.id == coming[n] } })
        add("live_window_in", moving, store.readCounters - before, records: 0)
        let fresh = try fetchNow(store, request).map(\.benchmarkHash)
        try demand(follower.last.map { $0.objects.map(\.benchmarkHash) } == fresh, "live_window")
        try demand(followed.map(\.benchmarkHash) == fresh, "the differences of live_window")
        follower.stop()
    }

    /// IDs of items, as generated, that are such; in an order that jumps about.
    private func changedIDs(_ isSuch: (Item) -> Bool) -> [Int64] {
        var ids: [Int64] = []
        for step in 0..<arguments.count where ids.count < 2_000 {
            let id = Int64((step &* 7_919) % arguments.count) + 1
            if isSuch(item(id)) { ids.append(id) }
        }
        return ids
    }

    // MARK: The peer

    /// What a program pays that asks SQLite again after each commit.
    private mutating func measureRecount(samples: Int) throws {
        guard arguments.peers.contains(.sqlite) else { return }
        let directory = try folder.makeEmpty("sqlite-live")
        let peer = PeerKind.sqlite.makePeer()
        peer.prepare(workload)
        try peer.open(directory, durable: false)
        _ = try peer.run(.insertSeqBulk, workload)
        try peer.settle(workload)
        try peer.close()
        var (recount, result) = (bench_recount(), bench_result())
        let ids = changedIDs { $0.itemType == 3 }
        bench_sqlite_recount(directory.path, ids, min(samples, ids.count), &recount, &result)
        if result.failed != 0 { throw BenchmarkError(String(cString: bench_result_message(&result))) }
        figures.append(
            LiveFigure(
                row: "sqlite_count_grouped_again", value: Double(recount.group_count) / 1e6, unit: "ms",
                details: [.init(name: "commit_us", value: Double(recount.commit) / 1_000)]))
        figures.append(LiveFigure(row: "sqlite_window_again", value: Double(recount.top) / 1e6, unit: "ms"))
    }
}
