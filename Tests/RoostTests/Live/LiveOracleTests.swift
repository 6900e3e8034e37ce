// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Live values against what the standard library makes of the same objects after each commit: the value is right, it
/// comes if and only if it differs from the one before, its difference makes the old value the new one, and nothing
/// is read again but in the listed forms.
struct LiveOracleTests {
    @Test func everyLiveValueIsTheOneOfAFreshComputation() async throws {
        var random = SeededGenerator()
        var tally = LiveTally()
        let rounds = repetitions(16, thorough: 400)
        for _ in 0..<rounds { try await round(commits: repetitions(125, thorough: 250), &tally, using: &random) }
        print("live oracle: \(tally)")
        #expect(tally.values > 0 && tally.unchanged > 0 && tally.moves > 0 && tally.refills > 0)
    }

    @Test func everyLiveValueIsRightWhileAnotherProcessWritesAsWell() async throws {
        var random = SeededGenerator()
        var tally = LiveTally(hasOthers: true)
        for _ in 0..<repetitions(4, thorough: 40) {
            try await sharedRound(commits: repetitions(40, thorough: 250), &tally, using: &random)
        }
        print("live oracle of two processes: \(tally)")
        #expect(tally.values > 0 && tally.catchUps > 0)
    }

    private func sharedRound(commits: Int, _ tally: inout LiveTally, using random: inout SeededGenerator) async throws {
        let place = TemporaryPlace()
        let store = try await Store.open(at: place.url, options: .init(durability: .unsafe), entities: Fruit.self)
        let other = try HelperProcess(["order", place.url.path])
        #expect(other.line() == "ready")
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        var followers = Self.followers(of: store, using: &random)
        for index in followers.indices { try await followers[index].look(at: [:], store, &tally) }
        for number in 0..<commits {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let ids = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    Int.random(in: FruitEdits.ids, using: &random)
                }
                let order = FruitOrder(
                    put: ids.dropFirst(number % 3).map { Fruit.random(id: $0, using: &random) },
                    delete: Array(ids.prefix(number % 3)))
                other.send(String(decoding: try encoder.encode(order), as: UTF8.self))
                #expect(other.line() == "done")
            }
            // Theirs are told before ours that come after them.
            let fruit = Fruit.random(id: Int.random(in: FruitEdits.ids, using: &random), using: &random)
            try await store.write { tx in
                try tx.upsert(fruit)
                try tx.upsert(Fruit(id: -1, country: "", amount: number, weight: 0, ratio: nil, rank: nil, name: ""))
            }
            store.engine.bus.drain()
            tally.commits += 1
            let model = Dictionary(
                try await store.fetch(FetchDescriptor<Fruit>()).map { ($0.id, $0) },
                uniquingKeysWith: { first, _ in first })
            for index in followers.indices where Int.random(in: 0..<5, using: &random) > 0 {
                try await followers[index].look(at: model, store, &tally)
            }
        }
        for index in followers.indices { followers[index].verifyStatistics(&tally) }
        #expect(other.finish() == 0)
        try store.close()
    }

    private static func followers(of store: Store, using random: inout SeededGenerator) -> [any LiveFollower] {
        var followers: [any LiveFollower] = []
        for _ in 0..<2 {
            followers.append(RowsFollower(.random(using: &random), store))
            followers.append(RowsFollower(.random(using: &random), store))
            followers.append(CountFollower(.random(using: &random), store))
            followers.append(GroupFollower(.random(using: &random), store))
            followers.append(SumFollower(.random(using: &random), store))
        }
        return followers
    }

    private func round(commits: Int, _ tally: inout LiveTally, using random: inout SeededGenerator) async throws {
        let place = TemporaryPlace()
        let store = try await Store.open(at: place.url, options: .init(durability: .unsafe), entities: Fruit.self)
        var model: [Int: Fruit] = [:]
        for id in 0..<Int.random(in: 0..<150, using: &random) { model[id] = Fruit.random(id: id, using: &random) }
        let first = model
        try await store.write { tx in try tx.insert(contentsOf: first.values.sorted { $0.id < $1.id }) }
        var followers = Self.followers(of: store, using: &random)
        for index in followers.indices { try await followers[index].look(at: model, store, &tally) }
        for number in 0..<commits {
            var (changed, generator) = (model, random)
            func write() throws {
                try store.write { tx in
                    try FruitEdits.apply(to: tx, &changed, isEbb: number % 60 > 30, using: &generator)
                }
            }
            try write()
            (model, random) = (changed, generator)
            tally.commits += 1
            store.engine.bus.drain()
            for index in followers.indices where Int.random(in: 0..<5, using: &random) > 0 {
                try await followers[index].look(at: model, store, &tally)
            }
        }
        for index in followers.indices {
            try await followers[index].look(at: model, store, &tally)
            followers[index].verifyStatistics(&tally)
        }
        try store.close()
    }
}

/// What the other process is told to do in one commit.
private struct FruitOrder: Codable {
    var put: [Fruit]
    var delete: [Int]
}

struct LiveTally {
    /// Whether another process writes: of what it changes counts and sums may not know what was before.
    var hasOthers = false
    var commits = 0, values = 0, unchanged = 0, moves = 0, fetches = 0, fallBacks = 0, refills = 0, catchUps = 0
}

/// Follows one live value.
protocol LiveFollower {
    mutating func look(at model: [Int: Fruit], _ store: Store, _ tally: inout LiveTally) async throws
    func verifyStatistics(_ tally: inout LiveTally)
}

private func expectCosts(
    _ statistics: LiveStatistics, _ mayFallBack: Bool, _ label: String, _ tally: inout LiveTally
) {
    tally.fetches += statistics.fetches
    tally.fallBacks += statistics.fallBacks
    tally.refills += statistics.refills
    tally.catchUps += statistics.catchUps
    if !mayFallBack {
        #expect(statistics.fallBacks == 0 && statistics.fetches == 1, "\(label) \(statistics)")
        if !tally.hasOthers { #expect(statistics.catchUps == 0, "\(label) \(statistics)") }
    }
}

struct RowsFollower: LiveFollower {
    let plain: PlainRequest
    let values: LiveObserver<Fruit, LiveResult<Fruit>>.Values
    var iterator: LiveObserver<Fruit, LiveResult<Fruit>>.Iterator
    var last: [Fruit]?
    var lastObjects: LiveObjects<Fruit>?

    init(_ plain: PlainRequest, _ store: Store) {
        self.plain = plain
        values = plain.request.makeLiveObserver().values(store)
        iterator = values.makeAsyncIterator()
    }

    mutating func look(at model: [Int: Fruit], _ store: Store, _ tally: inout LiveTally) async throws {
        let expected = plain.rows(model)
        let value = try await iterator.poll()
        if let last, last.map(\.fingerprint) == expected.map(\.fingerprint) {
            tally.unchanged += 1
            #expect(value == nil, "spurious: \(plain.label) \(String(describing: value?.difference))")
            return
        }
        tally.values += 1
        let result = try #require(value, "missed: \(plain.label)")
        #expect(Array(result.objects).map(\.fingerprint) == expected.map(\.fingerprint), "\(plain.label)")
        #expect(result.objects.indices.map { result.objects[$0].id } == expected.map(\.id))
        let applied = result.difference.applied(to: last ?? [], taking: result.objects)
        #expect(applied.map(\.fingerprint) == expected.map(\.fingerprint), "\(plain.label) \(result.difference)")
        tally.moves += result.difference.moves.count
        verify(result.difference, from: last ?? [], to: expected)
        if let lastObjects {
            let difference = try #require(result.collectionDifference(from: lastObjects))
            #expect(Array(lastObjects).applying(difference)?.map(\.fingerprint) == expected.map(\.fingerprint))
        }
        (last, lastObjects) = (expected, result.objects)
    }

    /// Each list says what it is to say, and no more.
    private func verify(_ difference: LiveDifference, from old: [Fruit], to new: [Fruit]) {
        let (before, after) = (Set(old.map(\.id)), Set(new.map(\.id)))
        #expect(difference.removes == old.indices.reversed().filter { !after.contains(old[$0].id) })
        #expect(difference.inserts == new.indices.filter { !before.contains(new[$0].id) })
        let known = Dictionary(old.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { a, _ in a })
        let updates = new.indices.compactMap { index -> LiveDifference.Shift? in
            guard let earlier = known[new[index].id], old[earlier].fingerprint != new[index].fingerprint else {
                return nil
            }
            return .init(from: earlier, to: index)
        }
        #expect(difference.updates == updates)
        for move in difference.moves { #expect(old[move.from].id == new[move.to].id) }
    }

    func verifyStatistics(_ tally: inout LiveTally) {
        expectCosts(values.statistics, plain.objectsFallBack || plain.predicateFallsBack, plain.label, &tally)
    }
}

struct CountFollower: LiveFollower {
    let plain: PlainRequest
    let values: LiveObserver<Fruit, Int>.Values
    var iterator: LiveObserver<Fruit, Int>.Iterator
    var last: Int?

    init(_ plain: PlainRequest, _ store: Store) {
        self.plain = plain
        values = plain.request.makeCountObserver().values(store)
        iterator = values.makeAsyncIterator()
    }

    mutating func look(at model: [Int: Fruit], _ store: Store, _ tally: inout LiveTally) async throws {
        let expected = plain.rows(model).count
        let value = try await iterator.poll()
        if last == expected { tally.unchanged += 1 } else { tally.values += 1 }
        #expect(value == (last == expected ? nil : expected), "\(plain.label)")
        last = expected
    }

    func verifyStatistics(_ tally: inout LiveTally) {
        expectCosts(values.statistics, plain.predicateFallsBack || tally.hasOthers, plain.label, &tally)
    }
}

/// By a text that may be nil and has several spellings, and by a number that may be none.
struct GroupFollower: LiveFollower {
    let plain: PlainRequest
    let countries: LiveObserver<Fruit, [String?: Int]>.Values
    let ratios: LiveObserver<Fruit, [Double?: Int]>.Values
    var byCountry: LiveObserver<Fruit, [String?: Int]>.Iterator
    var byRatio: LiveObserver<Fruit, [Double?: Int]>.Iterator
    var last: ([String?: Int], [String: Int])?

    init(_ plain: PlainRequest, _ store: Store) {
        self.plain = plain
        countries = plain.request.makeCountsObserver(by: \.country).values(store)
        ratios = plain.request.makeCountsObserver(by: \.ratio).values(store)
        byCountry = countries.makeAsyncIterator()
        byRatio = ratios.makeAsyncIterator()
    }

    private func text(_ ratio: Double?) -> String { ratio.map { "\($0 == 0 ? 0 : $0)" } ?? "nil" }

    mutating func look(at model: [Int: Fruit], _ store: Store, _ tally: inout LiveTally) async throws {
        let rows = plain.rows(model)
        let expected = (
            Dictionary(grouping: rows, by: \.country).mapValues(\.count),
            Dictionary(grouping: rows) { text($0.ratio) }.mapValues(\.count)
        )
        let values = (try await byCountry.poll(), try await byRatio.poll()?.map { (text($0), $1) })
        if last?.0 == expected.0 { tally.unchanged += 1 } else { tally.values += 1 }
        if last?.1 == expected.1 { tally.unchanged += 1 } else { tally.values += 1 }
        #expect(values.0 == (last?.0 == expected.0 ? nil : expected.0), "\(plain.label)")
        let ratios = values.1.map { Dictionary($0, uniquingKeysWith: +) }
        #expect(ratios == (last?.1 == expected.1 ? nil : expected.1), "\(plain.label)")
        let fresh = try { try store.counts(plain.request, by: \.country) }()
        #expect(fresh == expected.0, "\(plain.label)")
        last = expected
    }

    func verifyStatistics(_ tally: inout LiveTally) {
        let mayFallBack = plain.isWindow || plain.predicateFallsBack || tally.hasOthers
        expectCosts(countries.statistics, mayFallBack, plain.label, &tally)
        expectCosts(ratios.statistics, mayFallBack, plain.label, &tally)
    }
}

struct SumFollower: LiveFollower {
    let plain: PlainRequest
    let weights: LiveObserver<Fruit, Double>.Values
    let ranks: LiveObserver<Fruit, Int>.Values
    var weight: LiveObserver<Fruit, Double>.Iterator
    var rank: LiveObserver<Fruit, Int>.Iterator
    var last: (UInt64, Int)?

    init(_ plain: PlainRequest, _ store: Store) {
        self.plain = plain
        weights = plain.request.makeSumObserver(of: \.weight).values(store)
        ranks = plain.request.makeSumObserver(of: \.rank).values(store)
        weight = weights.makeAsyncIterator()
        rank = ranks.makeAsyncIterator()
    }

    /// All that are no number are one, and so are the zeros.
    private func bits(_ value: Double) -> UInt64 { value.isNaN ? .max : value == 0 ? 0 : value.bitPattern }

    mutating func look(at model: [Int: Fruit], _ store: Store, _ tally: inout LiveTally) async throws {
        let rows = plain.rows(model)
        let expected = (bits(PlainRequest.sum(rows.map(\.weight))), rows.reduce(0) { $0 + Int($1.rank ?? 0) })
        let values = (try await weight.poll().map(bits), try await rank.poll())
        if last?.0 == expected.0 { tally.unchanged += 1 } else { tally.values += 1 }
        if last?.1 == expected.1 { tally.unchanged += 1 } else { tally.values += 1 }
        #expect(values.0 == (last?.0 == expected.0 ? nil : expected.0), "\(plain.label)")
        #expect(values.1 == (last?.1 == expected.1 ? nil : expected.1), "\(plain.label)")
        let fresh = try { try store.sum(plain.request, of: \.weight) }()
        #expect(bits(fresh) == expected.0, "\(plain.label)")
        last = expected
    }

    func verifyStatistics(_ tally: inout LiveTally) {
        let mayFallBack = plain.isWindow || plain.predicateFallsBack || tally.hasOthers
        expectCosts(weights.statistics, mayFallBack, plain.label, &tally)
        expectCosts(ranks.statistics, mayFallBack, plain.label, &tally)
    }
}
