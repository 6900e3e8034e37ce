// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

/// A text for an ID, whose keys differ in length.
@Entity struct Parcel {
    var id: String
    var weight: Int
    static let indexes: [Index<Parcel>] = [Index(\.weight)]
}

@Entity struct Walked {
    var id: Int
    var rank: Int
    var other: Int
    var tags: [String]
    static let indexes: [Index<Walked>] = [Index(\.rank), Index(each: \.tags)]
}

/// A walk in a write whose body changed what it walked over visited 29 of 300 objects, or never ended.
@Suite("A walk inside a write meets the objects of its start, each once") struct WalkingWhileWritingTests {
    static let count = 300
    /// The IDs of a walk over all objects go to a file.
    static let limits = GatheredKeys.Limits(block: 100, blocksInMemory: 2)

    struct Way: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let request: FetchDescriptor<Walked>
        let plan: String
    }

    static var ways: [Way] {
        let some = Array(stride(from: 0, to: count, by: 8))
        var limited = FetchDescriptor<Walked>(sortBy: [SortDescriptor(\.rank)])
        limited.fetchOffset = 5
        limited.fetchLimit = 40
        return [
            Way(testDescription: "table", request: FetchDescriptor<Walked>(), plan: "table scan of Walked"),
            Way(
                testDescription: "table backwards",
                request: FetchDescriptor<Walked>(sortBy: [SortDescriptor(\.id, order: .reverse)]),
                plan: "table scan of Walked, backwards"),
            Way(
                testDescription: "table, filtered",
                request: FetchDescriptor<Walked>(predicate: #Predicate { $0.other == 1 }),
                plan: "table scan of Walked, filter on records"),
            Way(
                testDescription: "lookup",
                request: FetchDescriptor<Walked>(predicate: #Predicate { some.contains($0.id) }),
                plan: "lookup of 38 IDs in Walked"),
            Way(
                testDescription: "index forward",
                request: FetchDescriptor<Walked>(
                    predicate: #Predicate { $0.rank >= 0 }, sortBy: [SortDescriptor(\.rank)]),
                plan: "index scan Walked(rank), in a range"),
            Way(
                testDescription: "index backward",
                request: FetchDescriptor<Walked>(
                    predicate: #Predicate { $0.rank >= 0 }, sortBy: [SortDescriptor(\.rank, order: .reverse)]),
                plan: "index scan Walked(rank), in a range, backwards"),
            Way(
                testDescription: "index, limited", request: limited, plan: "index scan Walked(rank), offset 5, limit 40"
            ),
            Way(
                testDescription: "each",
                request: FetchDescriptor<Walked>(predicate: #Predicate { $0.tags.contains("a") }),
                plan: "index scan Walked(each tags), in a range"),
            Way(
                testDescription: "sorted in memory",
                request: FetchDescriptor<Walked>(sortBy: [SortDescriptor(\.other), SortDescriptor(\.rank)]),
                plan: "table scan of Walked, sort in memory"),
        ]
    }

    private func withWalked(_ body: (Store) throws -> Void) throws {
        try withTemporaryStore([Walked.self, Parcel.self]) { store in
            try store.write { tx in
                for id in 0..<Self.count {
                    try tx.insert(
                        Walked(id: id, rank: id * 7 % Self.count, other: id % 3, tags: id % 2 == 0 ? ["a"] : ["b"]))
                    try tx.insert(Parcel(id: String(repeating: "x", count: id % 5) + "\(id)", weight: id % 4))
                }
            }
            try body(store)
        }
    }

    /// Walks by every plan there is, and asserts that `expected` objects of the start came.
    private func walk(
        _ way: Way, _ change: (borrowing WriteTransaction, Walked) throws -> Void,
        expected: ([Int]) -> [Int] = { $0 }
    ) throws {
        struct Undo: Error {}
        try withWalked { store in
            let before = try store.ids(way.request)
            let plans = try store.read { tx in try tx.context.planner(way.request).all() }.map {
                $0.describe()
            }
            #expect(plans.contains(way.plan), "\(plans)")
            for number in plans.indices {
                var met: [Int] = []
                // Undone, so that each plan begins with the same objects.
                do {
                    try store.write { (tx) throws -> Void in
                        let context = tx.context
                        let execution = try context.planner(way.request).all()[number]
                        let keys = try GatheredKeys(execution, limits: Self.limits)
                        try context.forEach(keys, execution.handle) { (object: Walked) in
                            met.append(object.id)
                            try change(tx, object)
                        }
                        throw Undo()
                    }
                } catch is Undo {}
                #expect(met == expected(before), "\(way.testDescription), \(plans[number])")
            }
            for isJoined in [false, true] {
                var met: [Int] = []
                try store.write { tx in
                    if isJoined {
                        try store.read { inner in
                            try inner.forEach(way.request) { object in
                                met.append(object.id)
                                try change(tx, object)
                            }
                        }
                    } else {
                        try tx.forEach(way.request) { object in
                            met.append(object.id)
                            try change(tx, object)
                        }
                    }
                    // Only the first of the two begins with the objects as they were.
                }
                if !isJoined { #expect(met == expected(before), "\(way.testDescription)") }
                #expect(Set(met).count == met.count)
            }
        }
    }

    @Test(arguments: ways) func updatesOfTheWalkedField(_ way: Way) throws {
        try walk(way) { tx, object in
            try tx.update(Walked.self, id: object.id) {
                $0.rank += 1_000
                $0.other = 9
                $0.tags = ["a", "b", "c"]
            }
        }
    }

    @Test(arguments: ways) func updatesThatMoveObjectsBack(_ way: Way) throws {
        try walk(way) { tx, object in
            try tx.update(Walked.self, id: object.id) {
                $0.rank -= 1_000
                $0.other = -1
                $0.tags = []
            }
        }
    }

    @Test(arguments: ways) func insertsIntoWhatIsWalked(_ way: Way) throws {
        try walk(way) { tx, object in
            for id in [object.id + 10_000, -1 - object.id] {
                try tx.upsert(Walked(id: id, rank: object.rank + 1, other: object.other, tags: ["a"]))
            }
        }
    }

    @Test(arguments: ways) func deletesOfTheObjectItself(_ way: Way) throws {
        try walk(way) { tx, object in try tx.delete(Walked.self, id: object.id) }
    }

    @Test(arguments: ways) func deletesOfObjectsToCome(_ way: Way) throws {
        var gone: Set<Int> = []
        try walk(way) { tx, object in
            if object.id % 2 == 0 { try tx.delete(Walked.self, id: object.id + 1) }
        } expected: { before in
            gone = []
            return before.filter { id in
                if gone.contains(id) { return false }
                if id % 2 == 0 { gone.insert(id + 1) }
                return true
            }
        }
    }

    @Test func anObjectComesAsItIsWhenItsTurnComes() throws {
        try withWalked { store in
            try store.write { tx in
                var ranks: [Int] = []
                try tx.forEach(FetchDescriptor<Walked>(predicate: #Predicate { $0.other == 0 })) { object in
                    ranks.append(object.rank)
                    try tx.update(Walked.self, id: object.id + 3 < Self.count ? object.id + 3 : 0) {
                        $0.rank = 5_000
                        $0.other = 1
                    }
                }
                #expect(ranks == [0] + Array(repeating: 5_000, count: Self.count / 3 - 1))
            }
        }
    }

    @Test func walksWithinWalks() throws {
        try withWalked { store in
            try store.write { tx in
                var pairs = 0
                let all = FetchDescriptor<Walked>(
                    predicate: #Predicate { $0.rank >= 0 && $0.rank < 20 }, sortBy: [SortDescriptor(\.rank)])
                try tx.forEach(all) { outer in
                    try tx.forEach(all) { inner in
                        pairs += 1
                        try tx.update(Walked.self, id: inner.id) { $0.rank += 1 }
                    }
                    _ = outer
                }
                #expect(pairs == (1...20).reduce(0, +))
            }
        }
    }

    @Test func textIDs() throws {
        try withWalked { store in
            let request = FetchDescriptor<Parcel>(
                predicate: #Predicate { $0.weight < 2 }, sortBy: [SortDescriptor(\.weight)])
            let before = try store.ids(request)
            try store.write { tx in
                var met: [String] = []
                try tx.forEach(request) { parcel in
                    met.append(parcel.id)
                    try tx.update(Parcel.self, id: parcel.id) { $0.weight = 3 }
                    try tx.upsert(Parcel(id: "new " + parcel.id, weight: 1))
                }
                #expect(met == before)
            }
        }
    }

    @Test func whatTheBodyThrowsEndsTheWalkAndTheRestGoesOn() throws {
        struct Mine: Error {}
        try withWalked { store in
            try store.write { tx in
                var met = 0
                do {
                    try tx.forEach(FetchDescriptor<Walked>(sortBy: [SortDescriptor(\.rank)])) { object in
                        met += 1
                        try tx.update(Walked.self, id: object.id) { $0.rank += 1_000 }
                        if met == 10 { throw Mine() }
                    }
                    Issue.record("the body's error did not pass through")
                } catch is Mine {}
                #expect(met == 10)
            }
            let moved = FetchDescriptor<Walked>(predicate: #Predicate { $0.rank >= 1_000 })
            #expect(try store.count(moved) == 10)
        }
    }
}
