// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// A deletion by a request read and sorted records that it did not need, and so failed on damaged ones.
@Suite struct DamagedDeletionTests {
    @Entity struct Jar: Equatable {
        var id: Int
        var size: Int
        var label: String
        var other: Int
        var tags: [String]
        static let indexes: [Index<Jar>] = [Index(\.size), Index(\.label, \.size), Index(each: \.tags)]
    }

    private static let damaged = 50
    private static let jars = (0..<100).map { id in
        Jar(id: id, size: id % 10, label: "label \(id % 7)", other: id % 3, tags: id % 2 == 0 ? ["even"] : ["odd"])
    }

    struct Way: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let request: FetchDescriptor<Jar>
        let isMeant: @Sendable (Jar) -> Bool
    }

    /// What the IDs or one index say; each is met in every order.
    private static let exact: [(name: String, predicate: Predicate<Jar>?, isMeant: @Sendable (Jar) -> Bool)] = {
        let some = [1, 50, 200]
        return [
            ("all", nil, { _ in true }),
            ("constant", #Predicate { _ in true }, { _ in true }),
            ("range of IDs", #Predicate { $0.id >= 40 && $0.id < 60 }, { $0.id >= 40 && $0.id < 60 }),
            ("one ID", #Predicate { $0.id == 50 }, { $0.id == 50 }),
            ("IDs", #Predicate { some.contains($0.id) }, { some.contains($0.id) }),
            ("index, a value", #Predicate { $0.size == 0 }, { $0.size == 0 }),
            // Most of the table, which a scan would find faster.
            ("index, nearly all", #Predicate { $0.size < 9 }, { $0.size < 9 }),
            ("index, values", #Predicate { [0, 3, 4].contains($0.size) }, { [0, 3, 4].contains($0.size) }),
            ("two fields", #Predicate { $0.label == "label 1" && $0.size == 0 }, { $0.id == 50 }),
            ("element", #Predicate { $0.tags.contains("even") }, { $0.id % 2 == 0 }),
        ]
    }()

    static var ways: [Way] {
        let orders: [(name: String, order: [SortDescriptor<Jar>])] = [
            ("in any order", []),
            ("by ID backwards", [SortDescriptor(\.id, order: .reverse)]),
            ("by an index", [SortDescriptor(\.size)]),
            ("by no index", [SortDescriptor(\.other), SortDescriptor(\.label, order: .reverse)]),
            ("by a comparator", [SortDescriptor(\.label, comparator: .lexical)]),
        ]
        return exact.flatMap { way in
            orders.map { order in
                Way(
                    testDescription: "\(way.name), \(order.name)",
                    request: FetchDescriptor<Jar>(predicate: way.predicate, sortBy: order.order), isMeant: way.isMeant)
            }
        }
    }

    private func withDamage(_ damage: ([UInt8]) -> [UInt8], _ body: (Store) throws -> Void) throws {
        try Store.withTemporary(Jar.self) { (store) throws in
            try store.write { (tx) throws in try tx.insert(contentsOf: Self.jars) }
            let record = try #require(try store.record("Jar", Self.damaged))
            try store.overwrite("Jar", Self.damaged, with: damage(record))
            try body(store)
        }
    }

    private func entryCounts(_ store: Store) throws -> [Int] {
        let state = try store.state("Jar")
        return try store.engine.environment.read { transaction in
            try state.indexes.map { try transaction.statistics(of: $0.database).entries }
        }
    }

    @Test(arguments: ways) func whatIDsOrAnIndexSayNeedsNoRecord(_ way: Way) throws {
        try withDamage({ _ in [1, 2, 3] }) { (store) throws in
            let meant = Self.jars.filter(way.isMeant)
            #expect(meant.contains { $0.id == Self.damaged })
            #expect(try store.write { tx in try tx.delete(way.request) } == meant.count)
            #expect(try store.all(Jar.self) == Self.jars.filter { !way.isMeant($0) })
            let left = Self.jars.count - meant.count
            #expect(try entryCounts(store) == [left, left, left])
        }
    }

    @Test func orderThatDecidesIsKept() throws {
        try withDamage({ _ in [] }) { (store) throws in
            var lastOnes = FetchDescriptor<Jar>(sortBy: [SortDescriptor(\.id, order: .reverse)])
            lastOnes.fetchLimit = 60
            #expect(try store.write { tx in try tx.delete(lastOnes) } == 60)
            #expect(try store.all(Jar.self) == Array(Self.jars.prefix(40)))
        }
        try withDamage({ _ in [] }) { (store) throws in
            // IDs 0 and 10 are passed over.
            var smallest = FetchDescriptor<Jar>(sortBy: [SortDescriptor(\.size)])
            smallest.fetchLimit = 8
            smallest.fetchOffset = 2
            #expect(try store.write { tx in try tx.delete(smallest) } == 8)
            #expect(try store.all(Jar.self) == Self.jars.filter { $0.size > 0 || $0.id < 20 })
        }
    }

    /// Whether the object is one of those nobody knows.
    @Test func whatMustBeReadNamesTheObjectAndRemovesNothing() throws {
        var limited = FetchDescriptor<Jar>(sortBy: [SortDescriptor(\.other)])
        limited.fetchLimit = 99
        var skipped = FetchDescriptor<Jar>(sortBy: [SortDescriptor(\.label, comparator: .lexical)])
        skipped.fetchOffset = 1
        let requests = [
            limited, skipped,
            FetchDescriptor<Jar>(predicate: #Predicate { $0.other == 0 }),
            FetchDescriptor<Jar>(predicate: #Predicate { $0.size == 0 && $0.other == 0 }),
            FetchDescriptor<Jar>(predicate: #Predicate { $0.id > 40 && $0.label.contains("5") }),
            FetchDescriptor<Jar>(predicate: #Predicate { $0.tags.contains("even") || $0.size == 3 }),
        ]
        for (number, request) in requests.enumerated() {
            try withDamage({ _ in [] }) { (store) throws in
                try store.write { (tx) throws in
                    let error = failure(of: { try tx.delete(request) }) as? StoreError
                    #expect(error?.code == .damaged && error?.place.entity == "Jar", "request \(number)")
                    #expect(error?.place.id == "50", "request \(number)")
                    #expect(try tx.count(FetchDescriptor<Jar>()) == 100)
                    // The transaction goes on.
                    #expect(try tx.delete(Jar.self, id: Self.damaged))
                }
                #expect(try store.all(Jar.self) == Self.jars.filter { $0.id != Self.damaged })
            }
        }
    }

    /// An exact index is taken also where a scan would cost less; where none is, the cheapest plan is.
    @Test func thePlanOfADeletionTestsNothingWhereOneDoesNot() throws {
        try withDamage({ $0 }) { (store) throws in
            try store.write { (tx) throws in
                let context = tx.context
                func plan(_ request: FetchDescriptor<Jar>) throws -> String {
                    try context.plan(request, .removal).describe()
                }
                let most = #Predicate<Jar> { $0.size < 9 }
                #expect(
                    try plan(FetchDescriptor(predicate: most, sortBy: [SortDescriptor(\.other)]))
                        == "index scan Jar(size), in a range")
                #expect(
                    try plan(FetchDescriptor(sortBy: [SortDescriptor(\.size, order: .reverse)])) == "table scan of Jar")
                let mixed = #Predicate<Jar> { $0.size < 9 && $0.other == 1 }
                #expect(try plan(FetchDescriptor(predicate: mixed)) == "table scan of Jar, filter on records")
            }
        }
    }
}
