// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

@Entity struct Article {
    var id: Int
    var number: Int
    var title: String
    var stock: Int
    static let indexes: [Index<Article>] = [Index(\.number)]

    static func withStore(_ count: Int, _ body: (Store) throws -> Void) throws {
        try withTemporaryStore([Article.self, Station.self]) { store in
            try store.write { tx in
                try tx.insert(
                    contentsOf: (0..<count).lazy.map {
                        Article(id: $0, number: $0 * 7 % count, title: "Title \($0 * 11 % count)", stock: $0 % 10)
                    })
            }
            try body(store)
        }
    }
}

@Entity struct Mark {
    var id: Int
}

@Entity struct Even {
    var id: Int
    var number: Int
    static let indexes: [Index<Even>] = [Index(\.number)]
}

/// What was paid for rows that nobody asked for.
@Suite("Costs follow what is returned") struct CostTests {
    /// Beyond an offset of some thousands the planner took each entry that is left out for a look-up.
    @Test func aLargeOffsetStaysOnItsIndex() throws {
        try Sighting.withStore { store in
            try Scenario(
                sort: [SortDescriptor(\.number)], limit: 10, offset: 2_000,
                plan: "index scan Sighting(number), offset 2000, limit 10", entries: 2_010, records: 10, rows: 10
            ).verify(in: store)
            try store.read { tx in
                var request = FetchDescriptor<Sighting>(sortBy: [SortDescriptor(\.number)])
                request.fetchOffset = 2_000
                request.fetchLimit = 10
                let (_, counters) = try tx.counting { try tx.forEach(request) { _ in } }
                #expect(counters.recordsRead == 10)
                #expect(counters.entriesVisited == 2_010)
            }
        }
    }

    /// One value more than a thousand, and the whole table was read.
    @Test func aThousandAndOneValuesAreStillLookedUp() throws {
        try withTemporaryStore([Mark.self]) { store in
            // So many that a look-up each is still cheaper than a scan.
            try store.write { tx in try tx.insert(contentsOf: (0..<15_000).lazy.map { Mark(id: $0) }) }
            for size in [999, 1_000, 1_001] {
                let ids = Array(0..<size).map { $0 * 14 }
                let request = FetchDescriptor<Mark>(predicate: #Predicate { ids.contains($0.id) })
                let explanation = try store.explain(request)
                #expect(explanation.plan == "lookup of \(size) IDs in Mark")
                #expect(explanation.recordsRead == size)
                #expect(explanation.rows == size)
            }
        }
    }

    /// On either side of what a scan of the table costs.
    @Test func manyValuesAreLookedUpWhereTheScanIsDearer() throws {
        try Article.withStore(3_000) { store in
            let few = Array(0..<80).map { $0 * 37 }
            let sparse = FetchDescriptor<Article>(
                predicate: #Predicate { few.contains($0.number) }, sortBy: [SortDescriptor(\.id)])
            let lookups = try store.explain(sparse)
            #expect(lookups.plan == "index scan Article(number), in 80 ranges, sort in memory")
            #expect(lookups.recordsRead == 80)
            #expect(lookups.rows == 80)
            // The entry behind a range tells where the next one begins, if that is not farther.
            #expect(lookups.entriesVisited <= 2 * 80 + CostModel.sampledRanges * 2)

            let many = Array(0..<500)
            let dense = FetchDescriptor<Article>(predicate: #Predicate { many.contains($0.number) })
            let scan = try store.explain(dense)
            #expect(scan.plan == "table scan of Article, filter on records")
            #expect(scan.rows == 500)
        }
    }

    /// Ranges without an entry were taken to cost nothing.
    @Test func valuesThatNobodyHasCostADescentEach() throws {
        try withTemporaryStore([Even.self]) { store in
            try store.write { tx in
                try tx.insert(contentsOf: (0..<3_000).lazy.map { Even(id: $0, number: $0 * 2) })
            }
            try store.read { tx in
                let odd = Array(0..<200).map { $0 * 26 + 1 }
                let request = FetchDescriptor<Even>(predicate: #Predicate { odd.contains($0.number) })
                let execution = try #require(
                    try tx.context.planner(request).all().first { $0.describe().hasPrefix("index scan") })
                #expect(execution.plan.estimatedCost >= 199 * CostModel.seek)
                let (count, counters) = try tx.counting { try execution.count() }
                #expect(count == 0)
                #expect(counters.entriesVisited == 200)
            }
        }
    }

    /// Neighbouring values need one descent, not one each.
    @Test func rangesThatAdjoinAreWalkedOn() throws {
        try Article.withStore(3_000) { store in
            try store.read { tx in
                let numbers = Array(0..<60)
                let request = FetchDescriptor<Article>(predicate: #Predicate { numbers.contains($0.number) })
                let execution = try #require(
                    try tx.context.planner(request).all().first { $0.describe().hasPrefix("index scan") })
                let (count, counters) = try tx.counting { try execution.count() }
                #expect(count == 60)
                #expect(counters.entriesVisited == 61)
            }
        }
    }

    /// Each of a million captured IDs was looked up, or made ready to be, in a table of a thousand rows.
    @Test func moreCapturedIDsThanRowsAreTestedOnTheRows() throws {
        try Article.withStore(1_000) { store in
            let ids = Array(-20_000..<500)
            let request = FetchDescriptor<Article>(predicate: #Predicate { ids.contains($0.id) })
            let explanation = try store.explain(request)
            #expect(explanation.plan == "table scan of Article, filter on records")
            #expect(explanation.recordsRead == 1_000)
            #expect(explanation.rows == 500)
            try store.read { (tx) throws in #expect(try tx.context.planner(request).all().count == 1) }
        }
    }

    /// Whole objects were made for every row that was sorted.
    @Test func aSortWithALimitReadsOnlyWhatItReturns() throws {
        try Sighting.withStore { store in
            // In ID order the entries of the index say enough to sort by.
            try Scenario(
                #Predicate { $0.number >= 100 && $0.number < 150 }, limit: 5,
                plan: "index scan Sighting(number), in a range, keep the first 5, limit 5", entries: 50, records: 5,
                rows: 5
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.number >= 100 && $0.number < 150 }, sort: [SortDescriptor(\.id, order: .reverse)],
                limit: 5, offset: 3,
                plan: "index scan Sighting(number), in a range, keep the first 8, offset 3, limit 5", entries: 50,
                records: 5, rows: 5
            ).verify(in: store)
        }
    }

    @Test func idsInIDOrderReadNoRecords() throws {
        try Sighting.withStore { store in
            try store.read { tx in
                let request = FetchDescriptor<Sighting>(predicate: #Predicate { $0.number >= 100 && $0.number < 150 })
                let (ids, counters) = try tx.counting { try tx.ids(request) }
                #expect(ids == ids.sorted() && ids.count == 50)
                #expect(counters.recordsRead == 0)
            }
        }
    }

    /// The entries were counted twice: to plan by, and for the answer.
    @Test func aCountThatAnIndexKnowsIsCountedOnce() throws {
        try Sighting.withStore { store in
            try store.read { tx in
                let request = FetchDescriptor<Sighting>(
                    predicate: #Predicate { $0.number >= 100 }, sortBy: [SortDescriptor(\.name)])
                let (count, counters) = try tx.counting { try tx.count(request) }
                #expect(count == 2_900)
                #expect(counters.entriesVisited == 2_900)
                #expect(counters.recordsRead == 0)
            }
        }
    }

    /// Texts that begin with a given one were looked for in the whole table.
    @Test func thePrefixOfAnIDIsARange() throws {
        try withTemporaryStore([Station.self]) { store in
            try store.write { tx in
                for number in 0..<500 { try tx.insert(Station(id: "s\(number)")) }
                try tx.insert(Station(id: "s12\u{301}"))
            }
            let prefix = "s12"
            let request = FetchDescriptor<Station>(predicate: #Predicate { $0.id.starts(with: prefix) })
            let explanation = try store.explain(request)
            #expect(explanation.plan == "range of IDs in Station, filter on records")
            #expect(explanation.recordsRead <= 13)
            #expect(try store.ids(request) == ["s12"] + (120...129).map { "s\($0)" })
        }
    }

    /// A comparison of texts needs the texts, not the objects: one whose other fields cannot be read sorts all the same.
    @Test func aComparatorIsGivenTheTextAlone() throws {
        try Article.withStore(200) { store in
            for order in [SortOrder.forward, .reverse] {
                for comparator in [String.StandardComparator.lexical] {
                    for own in [SortOrder.forward, .reverse] {
                        var comparator = comparator
                        comparator.order = own
                        let descriptors = [
                            SortDescriptor(\Article.title, comparator: comparator, order: order),
                            SortDescriptor(\Article.title, comparator: comparator),
                        ]
                        for descriptor in descriptors {
                            let binding = try store.binding(of: Article.self)
                            if case .text = RequestedOrder.Criterion(comparing: descriptor, binding) {
                            } else {
                                Issue.record("objects are compared")
                            }
                            let all = try store.fetch(FetchDescriptor<Article>())
                            let expected = all.sorted {
                                let result = descriptor.compare($0, $1)
                                return result == .orderedAscending
                            }
                            let request = FetchDescriptor<Article>(sortBy: [descriptor])
                            #expect(try store.fetch(request).map(\.title) == expected.map(\.title))
                        }
                    }
                }
            }
        }
    }

    /// With a limit the rows gathered are cut again and again, and their keys moved.
    @Test func limitedSortsOfManyRowsKeepTheFirst() throws {
        try Article.withStore(3_000) { store in
            let sorts: [[SortDescriptor<Article>]] = [
                [SortDescriptor(\.title)], [SortDescriptor(\.stock), SortDescriptor(\.title, order: .reverse)],
                [SortDescriptor(\.stock, order: .reverse), SortDescriptor(\.id)],
                [SortDescriptor(\.title, comparator: .lexical, order: .reverse)],
            ]
            for sort in sorts {
                var request = FetchDescriptor<Article>(sortBy: sort)
                let all = try store.ids(request)
                for (limit, offset) in [(1, 0), (40, 0), (7, 100), (500, 1_000), (5_000, 2_990)] {
                    request.fetchLimit = limit
                    request.fetchOffset = offset
                    #expect(try store.ids(request) == Array(all.dropFirst(offset).prefix(limit)))
                }
            }
        }
    }
}
