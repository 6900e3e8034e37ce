// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// An import in many commits, beside live queries that each of them concerns, and that wait for a pause of 50 ms, but 250 ms at
/// most.
extension LiveBench {
    mutating func measureImport() async throws {
        let (count, size, queries) = (isSmoke ? 2_000 : min(50_000, arguments.count), 100, 20)
        var (alone, observed) = (Times(), Times())
        var (values, late) = (0, Times())
        for round in 0..<(isSmoke ? 1 : 3) {
            for isObserved in round % 2 == 0 ? [false, true] : [true, false] {
                let url = try folder.makeEmpty("live").appendingPathComponent("import.roost")
                let store = try openForLive(url)
                let requests = (0..<(isObserved ? queries : 0)).map(importRequest)
                var followers: [Follower<[Int64]>] = []
                for request in requests {
                    let observer = request.makeObserver { $0.map(\.id) }
                        .debounce(for: .milliseconds(50), maximumWait: .milliseconds(250))
                    let follower = Follower(observer.values(store))
                    _ = try await follower.next()
                    followers.append(follower)
                }
                let began = monotonicNow()
                try importItems(store, count, size)
                let end = monotonicNow()
                if isObserved { observed.add(end - began) } else { alone.add(end - began) }
                var last: UInt64 = end
                for (request, follower) in zip(requests, followers) {
                    let fresh = try fetchNow(store, request).map(\.id)
                    if follower.last != fresh {
                        last = max(last, try await follower.next { $0 == fresh }.time)
                    }
                    values += follower.count
                    follower.stop()
                }
                if isObserved { late.add(last - end) }
                try store.close()
            }
        }
        // Each query's first, one for each time that it may wait, and the last.
        let duration = observed.p50 / 1e9
        let most = Double(queries) * (duration / 0.05 + 2)
        let fetches = Double(values) / Double(max(1, observed.all.count))
        figures.append(
            LiveFigure(row: "import_fetches", value: fetches, unit: "fetches", bar: isSmoke ? nil : most.rounded(.up)))
        figures.append(
            LiveFigure(
                row: "import_beside_\(queries)_queries", value: observed.p50 / alone.p50, unit: "x of none",
                bar: isSmoke ? nil : 1.2,
                details: [
                    .init(name: "ms", value: observed.p50 / 1e6), .init(name: "none_ms", value: alone.p50 / 1e6),
                    .init(name: "last_value_ms_after", value: late.p50 / 1e6),
                ]))
    }

    private func importRequest(_ number: Int) -> FetchDescriptor<Item> {
        if number < 16 {
            var request = FetchDescriptor<Item>(
                predicate: #Predicate { $0.itemType == number }, sortBy: [SortDescriptor(\.createdAt, order: .reverse)])
            request.fetchLimit = 50
            return request
        }
        let low = Double(number - 16) * 250
        return FetchDescriptor(predicate: #Predicate { $0.price >= low && $0.price < low + 1 })
    }

    private func importItems(_ store: Store, _ count: Int, _ size: Int) throws {
        for start in stride(from: 0, to: count, by: size) {
            let items = (start..<min(start + size, count)).map { item(Int64($0 + 1)) }
            try store.write { tx in try tx.insert(contentsOf: items) }
        }
    }
}
