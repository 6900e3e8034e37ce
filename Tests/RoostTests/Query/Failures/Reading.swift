// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

@Entity struct Reading {
    var id: Int
    var value: Int
    var other: Int
    var tiny: Int8
    var amount: UInt
    var factor: Double
    var maybe: Int?
    var list: [Int]
    var name: String

    static let indexes: [Index<Reading>] = [
        Index(\.value), Index(\.other), Index(\.maybe), Index(\.name), Index(\.other, \.value), Index(each: \.list),
    ]

    /// The object on which a predicate is to fail, among others on which it does not.
    static let culprit = 13

    /// An index into `list`.
    var tinyIndex: Int { Int(tiny) }

    private static func store<Result>(
        _ change: (inout Reading) -> Void, _ others: (inout Reading) -> Void,
        _ body: (Store, [Reading]) throws -> Result
    ) throws -> Result {
        var readings = (0..<20).map { id in
            Reading(
                id: id, value: id + 1, other: id % 4, tiny: 5, amount: 9, factor: 1.5, maybe: id, list: [id, 7, 8],
                name: "reading \(id)")
        }
        for id in readings.indices { id == culprit ? change(&readings[id]) : others(&readings[id]) }
        return try withTemporaryStore([Reading.self]) { store in
            try store.write { tx in try tx.insert(contentsOf: readings) }
            return try body(store, readings)
        }
    }

    /// The predicate fails on the culprit, however it is asked.
    static func expectFailure(
        of predicate: Predicate<Reading>, because reason: String, _ change: (inout Reading) -> Void,
        others: (inout Reading) -> Void = { _ in }, at location: SourceLocation = #_sourceLocation
    ) throws {
        try store(change, others) { store, _ in
            try store.read { tx in
                for sort in sorts {
                    let request = FetchDescriptor<Reading>(predicate: predicate, sortBy: sort)
                    func check(_ how: String, _ body: () throws -> Void) {
                        do {
                            try body()
                            Issue.record("\(how) did not fail", sourceLocation: location)
                        } catch let error as StoreError {
                            #expect(error.code == .predicateFailed, "\(how)", sourceLocation: location)
                            #expect(error.place.entity == "Reading", "\(how)", sourceLocation: location)
                            #expect(error.place.id == "\(culprit)", "\(how)", sourceLocation: location)
                            #expect(error.message.contains(reason), "\(how): \(error)", sourceLocation: location)
                        } catch {
                            Issue.record("\(how) threw \(error)", sourceLocation: location)
                        }
                    }
                    let context = tx.context
                    for execution in try context.planner(request).all() {
                        let plan = execution.describe()
                        check(plan) { _ = try context.rows(Reading.self, execution) }
                        check("IDs by \(plan)") { _ = try context.ids(Reading.self, execution) }
                    }
                    check("count") { _ = try tx.count(request) }
                    let plan = try context.plan(request)
                    check("best") { _ = try context.rows(Reading.self, plan) }
                }
            }
        }
    }

    /// The predicate fails on no object; each plan gives the objects for which `holds` is true.
    static func expectRows(
        of predicate: Predicate<Reading>, _ holds: (Reading) throws -> Bool, _ change: (inout Reading) -> Void,
        others: (inout Reading) -> Void = { _ in }, at location: SourceLocation = #_sourceLocation
    ) throws {
        try store(change, others) { store, readings in
            let expected = try readings.filter(holds).map(\.id)
            try store.read { tx in
                for sort in sorts {
                    let request = FetchDescriptor<Reading>(predicate: predicate, sortBy: sort)
                    let context = tx.context
                    for execution in try context.planner(request).all() {
                        let ids = try context.rows(Reading.self, execution).map(\.id).sorted()
                        #expect(
                            ids == expected, "\(execution.describe())", sourceLocation: location)
                    }
                    #expect(try tx.count(request) == expected.count, sourceLocation: location)
                    #expect(try tx.fetch(request).map(\.id).sorted() == expected, sourceLocation: location)
                }
            }
        }
    }

    private static let sorts: [[SortDescriptor<Reading>]] = [
        [], [SortDescriptor(\.value)], [SortDescriptor(\.factor, order: .reverse)],
    ]
}
