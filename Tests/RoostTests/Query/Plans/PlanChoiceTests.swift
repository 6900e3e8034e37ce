// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

/// Which plan is taken where several would do.
@Suite("The cheaper plan is taken") struct PlanChoiceTests {
    @Test func byHowMuchAnIndexExcludes() throws {
        try Sighting.withStore { store in
            // 2 % through the index, 10 % by the table.
            try Scenario(
                #Predicate { $0.station.id == "s3" },
                plan: "index scan Sighting(station, number), in a range, sort in memory", entries: 60, records: 60,
                rows: 60
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.hour == 3 }, plan: "table scan of Sighting, filter on records", entries: 0,
                records: 3_000, rows: 300
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.number >= 1_000 }, plan: "table scan of Sighting, filter on records", entries: 0,
                records: 3_000, rows: 2_000
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.remark != nil }, plan: "table scan of Sighting, filter on records", entries: 0,
                records: 3_000, rows: 30
            ).verify(in: store)
        }
    }

    /// A scan of the table was thought to sort every object, also those that the predicate leaves out.
    @Test func aSortDoesNotMakeLookingUpMostObjectsCheap() throws {
        try Sighting.withStore { store in
            try Scenario(
                #Predicate { $0.number >= 1_000 }, sort: [SortDescriptor(\.noise)],
                plan: "table scan of Sighting, filter on records, sort in memory", entries: 0, records: 3_000,
                rows: 2_000
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.hour == 3 }, sort: [SortDescriptor(\.noise)],
                plan: "table scan of Sighting, filter on records, sort in memory", entries: 0, records: 3_000,
                rows: 300
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.station.id == "s3" }, sort: [SortDescriptor(\.noise)],
                plan: "index scan Sighting(station, number), in a range, sort in memory", entries: 60, records: 60,
                rows: 60
            ).verify(in: store)
        }
    }

    /// As for a search field that is still empty: the index used to be walked, with a look-up for every object.
    @Test func anEmptyPrefixNarrowsNothing() throws {
        try Sighting.withStore { store in
            let text = ""
            try Scenario(
                #Predicate { $0.name.starts(with: text) }, sort: [SortDescriptor(\.noise)],
                plan: "table scan of Sighting, filter on records, sort in memory", entries: 0, records: 3_000,
                rows: 3_000
            ).verify(in: store)
        }
    }

    @Test func betweenTwoIndexes() throws {
        try Sighting.withStore { store in
            try Scenario(
                #Predicate { $0.hour == 1 && $0.number == 21 },
                plan: "index scan Sighting(number), in a range, filter on records", entries: 1, records: 1, rows: 1
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.hour == 1 && $0.tags.contains("t3") },
                plan: "index scan Sighting(each tags), in a range, filter on records", entries: 60, records: 60,
                rows: 20
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.number >= 0 && $0.id == 4 }, plan: "lookup of 1 ID in Sighting, filter on records",
                entries: 0, records: 1, rows: 1
            ).verify(in: store)
        }
    }

    @Test func byTheLimit() throws {
        try Sighting.withStore { store in
            // In the index's order a few rows cost less than all of them and a sort; without a limit they do not.
            try Scenario(
                sort: [SortDescriptor(\.name)], limit: 10, plan: "index scan Sighting(name), limit 10", entries: 10,
                records: 10, rows: 10
            ).verify(in: store)
            try Scenario(
                sort: [SortDescriptor(\.name)], limit: 2_500,
                plan: "table scan of Sighting, keep the first 2500, limit 2500",
                entries: 0, records: 3_000, rows: 2_500
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.hour == 3 }, limit: 4, plan: "index scan Sighting(hour), in a range, limit 4",
                entries: 4, records: 4, rows: 4
            ).verify(in: store)
        }
    }

    @Test func byTheOrder() throws {
        try Sighting.withStore { store in
            try Scenario(
                sort: [SortDescriptor(\.station.id), SortDescriptor(\.number)], limit: 2,
                plan: "index scan Sighting(station, number), limit 2", entries: 2, records: 2, rows: 2
            ).verify(in: store)
            // Opposite directions are in no index.
            try Scenario(
                sort: [SortDescriptor(\.station.id), SortDescriptor(\.number, order: .reverse)], limit: 2,
                plan: "table scan of Sighting, keep the first 2, limit 2", entries: 0, records: 3_000, rows: 2
            ).verify(in: store)
            try Scenario(
                sort: [SortDescriptor(\.name, comparator: .lexical)], limit: 2,
                plan: "table scan of Sighting, keep the first 2, limit 2", entries: 0, records: 3_000, rows: 2
            ).verify(in: store)
        }
    }

    /// An ordered scan was taken to find one match in ten candidates, though the IDs or another index said how few there are.
    @Test func anOrderedScanIsNotTakenForTheSakeOfAFewRows() throws {
        let ids = [5, 17, 2_000]
        try Sighting.withStore { store in
            try Scenario(
                #Predicate { ids.contains($0.id) }, sort: [SortDescriptor(\.number)], limit: 1,
                plan: "lookup of 3 IDs in Sighting, keep the first 1, limit 1", entries: 0, records: 3, rows: 1
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.remark == "seen 2900" }, sort: [SortDescriptor(\.id)], limit: 1,
                plan: "index scan Sighting(remark), in a range, limit 1", entries: 1, records: 1, rows: 1
            ).verify(in: store)
            try Scenario(
                #Predicate { $0.station.id == "s49" }, sort: [SortDescriptor(\.name)], limit: 3,
                plan: "index scan Sighting(station, number), in a range, keep the first 3, limit 3", entries: 60,
                records: 60, rows: 3
            ).verify(in: store)
        }
    }
}
