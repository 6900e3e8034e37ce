// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostLMDB
import Testing

/// What each kind of fetch reads, exactly.
@Suite("Fetches read no more than they must") struct CounterTests {
    @Test func lookups() throws {
        let ids = [5, 17, 17, 9_000]
        try Sighting.withStore { store in
            try Scenario(
                #Predicate { $0.id == 77 }, plan: "lookup of 1 ID in Sighting", entries: 0, records: 1, rows: 1
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.id == -1 }, plan: "lookup of 1 ID in Sighting", entries: 0, records: 0, rows: 0
            ).verify(in: store)
            try Scenario(
                #Predicate { ids.contains($0.id) }, plan: "lookup of 3 IDs in Sighting", entries: 0, records: 2, rows: 2
            ).verify(in: store)
            try Scenario(
                #Predicate { ids.contains($0.id) }, sort: [SortDescriptor(\.id, order: .reverse)], limit: 1,
                plan: "lookup of 3 IDs in Sighting, backwards, limit 1", entries: 0, records: 1, rows: 1
            ).verify(in: store)
        }
    }

    @Test func rangesOfIDs() throws {
        try Sighting.withStore { store in
            try Scenario(
                #Predicate { $0.id >= 100 && $0.id < 150 }, plan: "range of IDs in Sighting", entries: 0, records: 51,
                rows: 50
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.id > 2_990 }, sort: [SortDescriptor(\.id, order: .reverse)],
                plan: "range of IDs in Sighting, backwards", entries: 0, records: 10, rows: 9
            ).verify(in: store)
        }
    }

    @Test func equalityOnAnIndex() throws {
        try Sighting.withStore { store in
            try Scenario(
                #Predicate { $0.number == 700 }, plan: "index scan Sighting(number), in a range", entries: 1,
                records: 1, rows: 1
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.remark == "seen 500" }, plan: "index scan Sighting(remark), in a range", entries: 1,
                records: 1, rows: 1
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.tags.contains("t7") }, plan: "index scan Sighting(each tags), in a range", entries: 60,
                records: 60, rows: 60
            ).verify(in: store)
            let numbers: Set<Int> = [1, 2, 3, 9_999]
            try store.read { tx in
                let request = FetchDescriptor<Sighting>(predicate: #Predicate { numbers.contains($0.number) })
                let explanation = try tx.explain(request)
                #expect(explanation.plan == "index scan Sighting(number), in 4 ranges, sort in memory")
                #expect(explanation.recordsRead == 3)
                #expect((3...7).contains(explanation.entriesVisited))
            }
        }
    }

    @Test func ranges() throws {
        try Sighting.withStore { store in
            try Scenario(
                #Predicate { $0.number >= 100 && $0.number < 150 },
                plan: "index scan Sighting(number), in a range, sort in memory", entries: 50, records: 50, rows: 50
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.number > 2_979 }, sort: [SortDescriptor(\.number)],
                plan: "index scan Sighting(number), in a range", entries: 20, records: 20, rows: 20
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.name > "n2989" }, sort: [SortDescriptor(\.name, order: .reverse)],
                plan: "index scan Sighting(name), in a range, backwards", entries: 10, records: 10, rows: 10
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.name.starts(with: "n012") },
                plan: "index scan Sighting(name), in a range, filter on records, sort in memory", entries: 10,
                records: 10, rows: 10
            ).verify(in: store)
        }
    }

    @Test func theGreatestThroughTheCompoundIndex() throws {
        try Sighting.withStore { store in
            try Scenario(
                #Predicate { $0.station.id == "s7" }, sort: [SortDescriptor(\.number, order: .reverse)], limit: 20,
                plan: "index scan Sighting(station, number), in a range, backwards, limit 20", entries: 20, records: 20,
                rows: 20
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.station.id == "s7" && $0.number > 1_000 }, sort: [SortDescriptor(\.number)], limit: 3,
                offset: 2, plan: "index scan Sighting(station, number), in a range, offset 2, limit 3", entries: 5,
                records: 3, rows: 3
            ).verify(in: store)
        }
    }

    @Test func whatAnIndexKnowsIsNotReadFromRecords() throws {
        try Sighting.withStore { store in
            var request = FetchDescriptor<Sighting>(predicate: #Predicate { $0.number >= 100 && $0.number < 150 })
            func reads(_ body: (borrowing ReadTransaction) throws -> Void) throws -> [Int] {
                try store.read { tx in
                    let before = tx.context.transaction.counters
                    try body(tx)
                    let difference = tx.context.transaction.counters - before
                    return [difference.recordsRead, difference.entriesVisited]
                }
            }
            // The 50 and the one behind them, once: counting is the answer.
            var count = 0
            var read = try reads { tx in count = try tx.count(request) }
            #expect(read == [0, 51] && count == 50)
            // One is enough to say that there is one.
            request.fetchLimit = 1
            read = try reads { tx in count = try tx.count(request) }
            #expect(read == [0, 1] && count == 1)
            request.fetchLimit = nil
            request.sortBy = [SortDescriptor(\.number)]
            var ids: [Int] = []
            read = try reads { tx in ids = try tx.ids(request) }
            #expect(read == [0, 102] && ids.count == 50)
            #expect(try store.fetch(request).map(\.id) == ids)
            // The order and the limit make one plan certain: nothing is counted to plan by.
            request.fetchOffset = 40
            request.fetchLimit = 5
            read = try reads { tx in ids = try tx.ids(request) }
            #expect(read == [0, 45] && ids.count == 5)
            #expect(try store.fetch(request).map(\.id) == ids)
            request.fetchLimit = 0
            read = try reads { tx in count = try tx.count(request) }
            #expect(read == [0, 0] && count == 0)
        }
    }

    @Test func scansOfTheTable() throws {
        try Sighting.withStore { store in
            try Scenario(plan: "table scan of Sighting", entries: 0, records: 3_000, rows: 3_000).verify(in: store)
            try Scenario(
                #Predicate { $0.noise == 3 }, plan: "table scan of Sighting, filter on records", entries: 0,
                records: 3_000, rows: 300
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.tags.count == 2 }, limit: 5,
                plan: "table scan of Sighting, filter on decoded objects, limit 5", entries: 0, records: 5, rows: 5
            ).verify(in: store)
        }
    }

    @Test func sortsWithAnIndexAndWithout() throws {
        try Sighting.withStore { store in
            try Scenario(
                sort: [SortDescriptor(\.number, order: .reverse)], limit: 5,
                plan: "index scan Sighting(number), backwards, limit 5", entries: 5, records: 5, rows: 5
            ).verify(in: store)
            try Scenario(
                sort: [SortDescriptor(\.noise, order: .reverse)], limit: 5,
                plan: "table scan of Sighting, keep the first 5, limit 5", entries: 0, records: 3_000, rows: 5
            ).verify(in: store)
            try Scenario(
                sort: [SortDescriptor(\.number)], plan: "table scan of Sighting, sort in memory", entries: 0,
                records: 3_000, rows: 3_000
            ).verify(in: store)
        }
    }

    @Test func anOrderedScanThatTests() throws {
        try Sighting.withStore { store in
            // `number` is 7 times `id`: the rows with noise 3 come up one in ten.
            try Scenario(
                #Predicate { $0.noise == 0 }, sort: [SortDescriptor(\.number)], limit: 3,
                plan: "index scan Sighting(number), filter on records, limit 3", entries: 21, records: 21, rows: 3
            ).verify(in: store)
        }
    }

    @Test func nothing() throws {
        let none: [Int] = []
        try Sighting.withStore { store in
            let plan = "nothing: the predicate excludes every object"
            try Scenario(#Predicate { _ in false }, plan: plan, entries: 0, records: 0, rows: 0).verify(in: store)
            try Scenario(#Predicate { none.contains($0.number) }, plan: plan, entries: 0, records: 0, rows: 0)
                .verify(in: store)
            try Scenario(
                #Predicate { $0.number == 1 && $0.number == 2 }, plan: plan, entries: 0, records: 0, rows: 0
            ).verify(in: store)
            try Scenario(limit: 0, plan: "nothing: the limit is 0", entries: 0, records: 0, rows: 0).verify(in: store)
        }
    }

    @Test func countsAndFirsts() throws {
        try Sighting.withStore { store in
            try store.read { tx in
                let (count, counting) = try tx.counting { try tx.count(FetchDescriptor<Sighting>()) }
                #expect(count == 3_000)
                #expect(counting.recordsRead == 0)
                #expect(counting.entriesVisited == 0)

                let byNumber = FetchDescriptor<Sighting>(sortBy: [SortDescriptor(\.number, order: .reverse)])
                let (last, reading) = try tx.counting { try tx.first(byNumber) }
                #expect(last?.number == 2_999)
                #expect(reading.recordsRead == 1)
                #expect(reading.entriesVisited == 1)

                let (first, scanning) = try tx.counting { try tx.first(FetchDescriptor<Sighting>()) }
                #expect(first?.id == 0)
                #expect(scanning.recordsRead == 1)
            }
        }
    }

    @Test func rowsThatABodyDoesNotWant() throws {
        struct Enough: Error {}
        try Sighting.withStore { store in
            try store.read { tx in
                var left = 4
                let (_, counters) = try tx.counting {
                    do {
                        try tx.forEach(FetchDescriptor<Sighting>()) { _ in
                            left -= 1
                            if left == 0 { throw Enough() }
                        }
                        Issue.record("the body's error did not pass through")
                    } catch is Enough {}
                }
                #expect(counters.recordsRead == 4)
            }
        }
    }
}
