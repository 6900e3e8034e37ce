// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost
@testable import RoostLMDB

/// 3,000 objects of known distribution.
@Entity struct Sighting {
    var id: Int
    /// 50 values: each is 2 % of all.
    var station: Ref<Station>
    /// Each value once.
    var number: Int
    /// 10 values: each is 10 % of all.
    var hour: Int
    /// `n0000` to `n2999`.
    var name: String
    /// 1 % of all are not nil.
    var remark: String?
    /// 10 values, in no index.
    var noise: Int
    /// 100 tags, two an object: each is on 2 % of all.
    var tags: [String]

    static let indexes: [Index<Sighting>] = [
        Index(\.station, \.number), Index(\.number), Index(\.hour), Index(\.name), Index(\.remark), Index(each: \.tags),
    ]

    static let count = 3_000

    static func withStore(_ body: (Store) throws -> Void) throws {
        try withTemporaryStore([Sighting.self, Station.self]) { store in
            try store.write { tx in
                for id in 0..<count {
                    let digits = String(id + 10_000).dropFirst()
                    try tx.insert(
                        Sighting(
                            id: id, station: Ref("s\(id % 50)"), number: id * 7 % count, hour: id / 3 % 10,
                            name: "n\(digits)", remark: id % 100 == 0 ? "seen \(id)" : nil, noise: id % 10,
                            tags: ["t\(id % 100)", "t\((id + 50) % 100)"]))
                }
            }
            try body(store)
        }
    }
}

@Entity struct Station { var id: String }

/// A fetch with the plan and the counters that it must have.
struct Scenario {
    let request: FetchDescriptor<Sighting>
    let plan: String
    let entries: Int
    let records: Int
    let rows: Int
    let location: SourceLocation

    init(
        _ predicate: Predicate<Sighting>? = nil, sort: [SortDescriptor<Sighting>] = [], limit: Int? = nil,
        offset: Int? = nil, plan: String, entries: Int, records: Int, rows: Int,
        at location: SourceLocation = #_sourceLocation
    ) {
        var request = FetchDescriptor<Sighting>(predicate: predicate, sortBy: sort)
        request.fetchLimit = limit
        request.fetchOffset = offset
        self.request = request
        self.plan = plan
        self.entries = entries
        self.records = records
        self.rows = rows
        self.location = location
    }

    func verify(in store: Store) throws {
        let explanation = try store.explain(request)
        #expect(explanation.plan == plan, sourceLocation: location)
        #expect(explanation.recordsRead == records, sourceLocation: location)
        #expect(explanation.rows == rows, sourceLocation: location)
        // A scan that reaches the end of its range has looked at the entry behind it.
        #expect((entries...entries + 1).contains(explanation.entriesVisited), sourceLocation: location)
        if let limit = request.fetchLimit, limit + (request.fetchOffset ?? 0) == entries {
            #expect(explanation.entriesVisited == entries, "behind the limit", sourceLocation: location)
        }
    }
}

extension SnapshotReading where Self: ~Copyable {
    /// What `body` gives, and what it moves over and looks up.
    func counting<Result>(_ body: () throws -> Result) throws -> (result: Result, counters: Counters) {
        let before = context.transaction.counters
        let result = try body()
        return (result, context.transaction.counters - before)
    }
}
