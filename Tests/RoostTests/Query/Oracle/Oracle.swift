// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

/// The objects of a store as the test knows them, with the place of each in every order.
struct Oracle<T: Entity> {
    let label: String
    /// By ID, ascending as the store orders it.
    let objects: [T]
    let criteria: [Criterion<T>]
    /// By criterion, then by object: equal numbers are equal values.
    private let places: [[Int]]
    private let flags: [[(isNil: Bool, isNaN: Bool, isUnnormalized: Bool)]]

    init(_ label: String, _ objects: [T], _ criteria: [Criterion<T>]) {
        self.label = label
        self.objects = objects
        self.criteria = criteria
        places = criteria.map { criterion in
            let order = objects.indices.sorted { criterion.precedes(objects[$0], objects[$1]) }
            var places = [Int](repeating: 0, count: objects.count)
            for (before, next) in zip(order, order.dropFirst()) {
                places[next] = places[before] + (criterion.precedes(objects[before], objects[next]) ? 1 : 0)
            }
            return places
        }
        flags = criteria.map { criterion in
            objects.map { (criterion.isNil($0), criterion.isNaN($0), criterion.isUnnormalized($0)) }
        }
    }

    /// Which objects the request asks for, in its order.
    private func expected(
        _ question: Question<T>, _ sort: [(criterion: Int, order: SortOrder)], limit: Int?, offset: Int?
    ) throws -> (all: [Int], window: [Int]) {
        var matches: [Int] = []
        for index in objects.indices where try question.holds(objects[index]) { matches.append(index) }
        if sort.last?.order == .reverse { matches.reverse() }
        if !sort.isEmpty {
            let direction = sort.last?.order == .reverse ? -1 : 1
            matches.sort { a, b in
                for (criterion, order) in sort where places[criterion][a] != places[criterion][b] {
                    return (places[criterion][a] < places[criterion][b]) == (order == .forward)
                }
                return a * direction < b * direction
            }
        }
        let rest = matches.dropFirst(offset ?? 0)
        return (matches, Array(limit.map { rest.prefix($0) } ?? rest))
    }

    private var isLarge: Bool { objects.count > Tally.chunk }

    /// Asks the store in every way there is, with every plan there is.
    func verify(
        _ question: Question<T>, in tx: borrowing ReadTransaction, using random: inout SeededRandom,
        _ tally: inout Tally
    ) throws {
        let sort = randomSort(using: &random)
        var request = FetchDescriptor<T>(
            predicate: question.predicate, sortBy: sort.map { criteria[$0.criterion].descriptor($0.order) })
        request.fetchLimit =
            random.chance(isLarge ? 85 : 50) ? nil : random.pick([0, 1, 2, 7, 50, 1_500, -1, .max])
        request.fetchOffset = random.chance(70) ? nil : random.pick([0, 1, 5, 40, 1_100, -3])
        let (all, window) = try expected(
            question, sort, limit: request.fetchLimit.flatMap { $0 < 0 ? nil : $0 },
            offset: request.fetchOffset.flatMap { $0 < 0 ? nil : $0 })
        let wanted = window.map { objects[$0].id }

        let context = tx.context
        let sorting = sort.map { "\(criteria[$0.criterion].name) \($0.order)" }.joined(separator: ", ")
        func check(_ got: [T.ID], _ how: @autoclosure () -> String) {
            guard got != wanted else { return }
            Issue.record(
                """
                \(label), \(question.name), sorted by [\(sorting)], limit \(request.fetchLimit ?? -1), offset \
                \(request.fetchOffset ?? -1), \(how()): \(got.count) rows for \(wanted.count); \
                got \(got.prefix(12)) for \(wanted.prefix(12)); seed \(SeededRandom.seed)
                """)
        }

        check(try tx.fetch(request).map(\.id), "fetch")
        let plans = try context.planner(request).all()
        let best = try context.plan(request)
        for execution in plans {
            let plan = execution.describe()
            // The fetch has run it already; in a large store once is enough.
            if isLarge && plan == best.describe() { continue }
            let objects = try context.rows(T.self, execution)
            check(objects.map(\.id), plan)
            guard random.chance(isLarge ? 20 : 60) else { continue }
            check(try context.ids(T.self, execution), "IDs by \(plan)")
            if execution.plan.isOrdered {
                check(try chunks(execution, random.pick([1, 3, 100, 1_000])), "in chunks, \(plan)")
            }
        }
        if random.chance(isLarge ? 20 : 60) {
            check(try tx.ids(request), "ids")
            var visited: [T.ID] = []
            try tx.forEach(request) { visited.append($0.id) }
            check(visited, "forEach")
            #expect(try tx.count(request) == wanted.count, "\(label), \(question.name), seed \(SeededRandom.seed)")
            #expect(try tx.first(request)?.id == wanted.first, "\(label), \(question.name), seed \(SeededRandom.seed)")
        }

        tally.cases += 1
        tally.plans += plans.count
        tally.count(self, sort.map(\.criterion), all: all, window: window)
    }

    /// The rows of a streaming plan, left and taken up again after each chunk.
    private func chunks(_ execution: Execution, _ rows: Int) throws -> [T.ID] {
        var ids: [T.ID] = []
        var position = Execution.Position()
        var goesOn = true
        while goesOn {
            goesOn = try execution.stream(from: &position, rows: rows) { key, record in
                ids.append(try T.decoded(key: key, record: record, handle: execution.handle).id)
            }
        }
        return ids
    }

    private func randomSort(using random: inout SeededRandom) -> [(criterion: Int, order: SortOrder)] {
        let count = random.pick([0, 1, 1, 1, 2, 2, 3])
        let order: SortOrder = random.chance(50) ? .forward : .reverse
        return (0..<count).map { _ in
            (random.int(0...criteria.count - 1), random.chance(70) ? order : order == .forward ? .reverse : .forward)
        }
    }

    fileprivate func isTie(_ a: Int, _ b: Int, _ sort: [Int]) -> Bool {
        !sort.isEmpty && sort.allSatisfy { places[$0][a] == places[$0][b] }
    }

    fileprivate func has(
        _ index: Int, _ sort: [Int], _ what: KeyPath<(isNil: Bool, isNaN: Bool, isUnnormalized: Bool), Bool>
    )
        -> Bool
    {
        sort.contains { flags[$0][index][keyPath: what] }
    }
}

extension Tally {
    fileprivate mutating func count<T>(_ oracle: Oracle<T>, _ sort: [Int], all: [Int], window: [Int]) {
        if all.isEmpty { empty += 1 }
        if window.count > Self.chunk { chunked += 1 }
        if zip(window, window.dropFirst()).contains(where: { oracle.isTie($0, $1, sort) }) { ties += 1 }
        if window.contains(where: { oracle.has($0, sort, \.isNil) }) { nils += 1 }
        if window.contains(where: { oracle.has($0, sort, \.isNaN) }) { nans += 1 }
        if window.contains(where: { oracle.has($0, sort, \.isUnnormalized) }) { unnormalized += 1 }
    }
}
