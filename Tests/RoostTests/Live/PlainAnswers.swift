// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// What requests mean, by the standard library and Foundation alone.
struct PlainRequest {
    var label = "all"
    var request = FetchDescriptor<Fruit>()
    var holds: @Sendable (Fruit) -> Bool = { _ in true }
    /// Negative, zero or positive, by each criterion.
    var criteria: [@Sendable (Fruit, Fruit) -> Int] = []
    var isIDDescending = false
    /// Whether it is of a form that is fetched again.
    var objectsFallBack = false
    var predicateFallsBack = false

    var isWindow: Bool { request.fetchLimit != nil || request.fetchOffset != nil }

    func matches(_ model: [Int: Fruit]) -> [Fruit] { model.values.filter(holds) }

    func rows(_ model: [Int: Fruit]) -> [Fruit] {
        let sorted = matches(model).sorted { a, b in
            for criterion in criteria {
                let order = criterion(a, b)
                if order != 0 { return order < 0 }
            }
            return isIDDescending ? a.id > b.id : a.id < b.id
        }
        let rest = sorted.dropFirst(request.fetchOffset ?? 0)
        return Array(request.fetchLimit.map { rest.prefix($0) } ?? rest)
    }

    static func compare<V: Comparable>(_ a: V, _ b: V) -> Int { a < b ? -1 : a == b ? 0 : 1 }

    static func compare(_ a: Double, _ b: Double) -> Int {
        if a.isNaN || b.isNaN { return compare(a.isNaN ? 1 : 0, b.isNaN ? 1 : 0) }
        return a < b ? -1 : a > b ? 1 : 0
    }

    static func compare(_ a: String, _ b: String) -> Int {
        let (a, b) = (a.precomposedStringWithCanonicalMapping.utf8, b.precomposedStringWithCanonicalMapping.utf8)
        return a.elementsEqual(b) ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    }

    static func compare<V>(_ a: V?, _ b: V?, _ body: (V, V) -> Int) -> Int {
        guard let a, let b else { return compare(a == nil ? 0 : 1, b == nil ? 0 : 1) }
        return body(a, b)
    }

    // MARK: At random

    static func random(using random: inout some RandomNumberGenerator) -> PlainRequest {
        var plain = PlainRequest()
        plain.choosePredicate(using: &random)
        plain.chooseOrder(using: &random)
        if Bool.random(using: &random) {
            plain.request.fetchLimit = [0, 1, 3, 10, 40, 1_000].randomElement(using: &random)
            plain.label += " limit \(plain.request.fetchLimit ?? -1)"
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            plain.request.fetchOffset = [1, 5, 30, 1, 5, 30, 20_000].randomElement(using: &random)
            plain.label += " offset \(plain.request.fetchOffset ?? -1)"
            if plain.request.fetchLimit == nil, Int.random(in: 0..<5, using: &random) > 0 {
                plain.request.fetchLimit = 5
                plain.label += " limit 5"
            }
            if plain.request.fetchLimit == nil || plain.request.fetchOffset == 20_000 { plain.objectsFallBack = true }
        }
        return plain
    }

    private mutating func choosePredicate(using random: inout some RandomNumberGenerator) {
        let bound = Int.random(in: 0..<12, using: &random)
        switch Int.random(in: 0..<24, using: &random) {
        case 0, 1, 12...15: break
        case 2, 3, 16...19:
            label = "amount > \(bound)"
            request.predicate = #Predicate { $0.amount > bound }
            holds = { $0.amount > bound }
        case 4:
            let country = Fruit.countries.randomElement(using: &random) ?? nil
            label = "country == \(country ?? "nil")"
            request.predicate = #Predicate { $0.country == country }
            holds = { $0.country == country }
        case 5:
            label = "weight < 1"
            request.predicate = #Predicate { $0.weight < 1 }
            holds = { $0.weight < 1 }
        case 6:
            label = "starts with é"
            request.predicate = #Predicate { $0.name.starts(with: "\u{E9}") }
            holds = { $0.name.starts(with: "\u{E9}") }
        case 7:
            label = "ratio == nil or amount == \(bound)"
            request.predicate = #Predicate { $0.ratio == nil || $0.amount == bound }
            holds = { $0.ratio == nil || $0.amount == bound }
        case 8:
            label = "DE and amount >= \(bound)"
            request.predicate = #Predicate { $0.country == "DE" && $0.amount >= bound }
            holds = { $0.country == "DE" && $0.amount >= bound }
        case 9:
            label = "nothing"
            request.predicate = #Predicate { $0.amount > 1_000 }
            holds = { $0.amount > 1_000 }
        case 10, 20:
            label = "not (ratio < 1)"
            request.predicate = #Predicate { !(($0.ratio ?? 0) < 1) }
            holds = { !(($0.ratio ?? 0) < 1) }
            // What the planner makes of it decides.
            predicateFallsBack = true
        case 11:
            label = "computed"
            request.predicate = #Predicate { $0.backwards < -4 }
            holds = { $0.backwards < -4 }
            predicateFallsBack = true
        default:
            label = "country not nil"
            request.predicate = #Predicate { $0.country != nil }
            holds = { $0.country != nil }
        }
    }

    private mutating func chooseOrder(using random: inout some RandomNumberGenerator) {
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let descends = Bool.random(using: &random)
            let order: SortOrder = descends ? .reverse : .forward
            func add(
                _ name: String, _ descriptor: SortDescriptor<Fruit>,
                _ compare: @escaping @Sendable (Fruit, Fruit) -> Int
            ) {
                label += " by \(name)\(descends ? " down" : "")"
                request.sortBy.append(descriptor)
                criteria.append { descends ? compare($1, $0) : compare($0, $1) }
                isIDDescending = descends
            }
            switch Int.random(in: 0..<20, using: &random) {
            case 0, 8...12: add("amount", SortDescriptor(\.amount, order: order)) { Self.compare($0.amount, $1.amount) }
            case 1: add("weight", SortDescriptor(\.weight, order: order)) { Self.compare($0.weight, $1.weight) }
            case 2:
                add("ratio", SortDescriptor(\.ratio, order: order)) { Self.compare($0.ratio, $1.ratio, Self.compare) }
            case 3: add("rank", SortDescriptor(\.rank, order: order)) { Self.compare($0.rank, $1.rank, Self.compare) }
            case 4: add("name", SortDescriptor(\.name, order: order)) { Self.compare($0.name, $1.name) }
            case 5:
                add("country", SortDescriptor(\.country, order: order)) {
                    Self.compare($0.country, $1.country, Self.compare)
                }
            case 6:
                add("backwards", SortDescriptor(\.backwards, order: order)) { Self.compare($0.backwards, $1.backwards) }
                objectsFallBack = true
            default: add("id", SortDescriptor(\.id, order: order)) { Self.compare($0.id, $1.id) }
            }
        }
    }

    // MARK: Sums

    /// The exact sum, rounded once: partial sums that do not overlap, after Shewchuk.
    static func sum(_ values: [Double]) -> Double {
        if values.contains(where: { !$0.isFinite }) { return values.reduce(0, +) }
        var partials: [Double] = []
        for value in values {
            var x = value
            var kept: [Double] = []
            for var y in partials {
                if abs(x) < abs(y) { (x, y) = (y, x) }
                let high = x + y
                let low = y - (high - x)
                if low != 0 { kept.append(low) }
                x = high
            }
            partials = kept + [x]
        }
        guard var high = partials.popLast() else { return 0 }
        var low = 0.0
        while let y = partials.popLast() {
            let x = high
            high = x + y
            low = y - (high - x)
            if low != 0 { break }
        }
        if let next = partials.last, (low < 0 && next < 0) || (low > 0 && next > 0) {
            let y = low * 2
            let x = high + y
            if y == x - high { high = x }
        }
        return high
    }
}
