// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// What the live oracle stores: few values of each field, so that there are ties, and those that are hard to order.
@Entity struct Fruit: Codable {
    var id: Int
    var country: String?
    var amount: Int
    var weight: Double
    var ratio: Double?
    var rank: Int16?
    var name: String

    static let indexes: [Index<Fruit>] = [Index(\.amount), Index(\.country, \.amount), Index(\.weight)]

    /// What no record holds.
    var backwards: Int { -amount }
}

extension Fruit {
    static let countries: [String?] = ["FR", "DE", nil, "caf\u{E9}", "cafe\u{301}", ""]
    static let weights: [Double] = [0, -0.0, 0.1, 0.2, 0.3, -0.7, 1e16, -1e16, 5e-300, 123_456.789, 3, 5, 7]
    static let ratios: [Double?] = [nil, .nan, 0, -0.0, 1, 2, -.infinity, 0.5]
    static let names = [
        "a", "b", "\u{E9}cole", "e\u{301}cole", "\u{E9}t\u{E9}", "e", "f", "", "\u{1100}\u{1161}", "\u{AC00}",
    ]

    static func random(id: Int, using random: inout some RandomNumberGenerator) -> Fruit {
        Fruit(
            id: id, country: countries.randomElement(using: &random) ?? nil,
            amount: Int.random(in: 0..<12, using: &random),
            weight: randomWeight(using: &random), ratio: ratios.randomElement(using: &random) ?? nil,
            rank: Bool.random(using: &random) ? nil : Int16.random(in: -3...3, using: &random),
            name: names.randomElement(using: &random) ?? "")
    }

    static func randomWeight(using random: inout some RandomNumberGenerator) -> Double {
        switch Int.random(in: 0..<200, using: &random) {
        case 0: .nan
        case 1: .infinity
        case 2: -.infinity
        default: weights.randomElement(using: &random) ?? 0
        }
    }

    mutating func changeOneField(using random: inout some RandomNumberGenerator) {
        let other = Fruit.random(id: id, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: country = other.country
        case 1: amount = Bool.random(using: &random) ? other.amount : amount + 1
        case 2: weight = other.weight
        case 3: ratio = other.ratio
        case 4: rank = other.rank
        default: name = other.name
        }
    }

    /// Tells apart whatever a record does.
    var fingerprint: String {
        func text(_ value: String?) -> String { value.map { "\(Array($0.utf8))" } ?? "nil" }
        let ratio = ratio.map { "\($0.bitPattern)" } ?? "nil"
        let rank = rank.map { "\($0)" } ?? "nil"
        return "\(id) \(text(country)) \(amount) \(weight.bitPattern) \(ratio) \(rank) \(text(name))"
    }
}

/// One commit's edits, each of which an object may get several times.
enum FruitEdits {
    static let ids = 0..<200

    /// At ebb tide more objects go than come.
    static func apply(
        to tx: borrowing WriteTransaction, _ model: inout [Int: Fruit], isEbb: Bool,
        using random: inout some RandomNumberGenerator
    ) throws {
        let dice = Int.random(in: 0..<1_000, using: &random)
        if dice < 3 {
            for id in model.keys.sorted() { try tx.delete(Fruit.self, id: id) }
            model = [:]
        }
        let count = dice < 20 ? Int.random(in: 50..<200, using: &random) : Int.random(in: 1...5, using: &random)
        for _ in 0..<count {
            let id = Int.random(in: ids, using: &random)
            guard var fruit = model[id] else {
                if isEbb && !model.isEmpty { continue }
                let fruit = Fruit.random(id: id, using: &random)
                try tx.insert(fruit)
                model[id] = fruit
                continue
            }
            let before = fruit
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<3, 6..<(isEbb ? 10 : 6):
                try tx.delete(Fruit.self, id: id)
                model[id] = nil
            case 3:
                // Gone and back again, the same or another.
                try tx.delete(Fruit.self, id: id)
                if Bool.random(using: &random) { fruit = Fruit.random(id: id, using: &random) }
                try tx.insert(fruit)
                model[id] = fruit
            case 4: try tx.upsert(fruit)
            case 5:
                fruit.changeOneField(using: &random)
                try tx.upsert(fruit)
                try tx.upsert(before)
            default:
                fruit.changeOneField(using: &random)
                try tx.upsert(fruit)
                model[id] = fruit
            }
        }
    }
}
