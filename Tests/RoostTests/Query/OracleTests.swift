// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

/// Every answer of the store, by every plan, against Foundation and sorts of the tests' own.
@Suite("Queries equal the oracle's") struct OracleTests {
    static var criteria: [Criterion<Specimen>] {
        [
            .plain(\.id), .plain(\.score), .optional(\.rank), .plain(\.serial), .floating(\.weight), .floating(\.ratio),
            .floating(\.tone), .text(\.name), .text(\.note), .plain(\.found), .optional(\.seen), .plain(\.token),
            .plain(\.kind), .plain(\.kind.rawValue), .plain(\.grade), .optional(\.level), .optional(\.level?.rawValue),
            .optional(\.parent?.id), .text(\.museum.id), .plain(\.tags.count),
            .compared(\.museum.id, .lexical, "lexical"),
        ]
    }

    struct Setup: CustomTestStringConvertible {
        let name: String
        let count: Int
        let isLong: Bool
        let rounds: Int
        var testDescription: String { name }
    }

    @Test func allPlansGiveWhatFoundationSays() throws {
        print("seed \(SeededRandom.seed) (ROOST_TEST_SEED)")
        let setups = [
            Setup(name: "few", count: 4, isLong: true, rounds: 1),
            Setup(name: "tiny, long texts", count: 30, isLong: true, rounds: 1),
            Setup(name: "short texts", count: 120, isLong: false, rounds: 1),
            Setup(name: "long texts", count: 120, isLong: true, rounds: 1),
            Setup(name: "large", count: 1_250, isLong: false, rounds: 1),
        ]
        var tally = Tally()
        for (number, setup) in setups.enumerated() {
            var random = SeededRandom(seed: SeededRandom.seed &+ UInt64(number) &* 1_000_003)
            let started = Date()
            tally += try verify(setup, using: &random)
            print("  \(setup.name): \(Date().timeIntervalSince(started)) s")
        }
        let shares = tally.shares.map { "\($0.name) \($0.percent) %" }.joined(separator: ", ")
        print("\(tally.cases) cases, \(tally.plans) plans forced; \(shares)")
        for share in tally.shares { #expect(share.percent >= 2, "too few cases with \(share.name)") }
    }

    private func verify(_ setup: Setup, using random: inout SeededRandom) throws -> Tally {
        let samples = Samples(long: setup.isLong, using: &random)
        return try withTemporaryStore([Specimen.self, Museum.self]) { store in
            let objects = try fill(store, setup.count, samples, using: &random)
            let stored = try store.fetch(FetchDescriptor<Specimen>())
            #expect(stored.map { Array("\($0)".utf8) } == objects.map { Array("\($0)".utf8) })
            let oracle = Oracle(setup.name, objects, Self.criteria)
            var tally = Tally()
            try store.read { tx in
                for _ in 0..<setup.rounds {
                    for question in SpecimenQuestions.all(samples, objects, using: &random) {
                        try oracle.verify(question, in: tx, using: &random, &tally)
                        // Results of several chunks are rare enough.
                        let matches = try objects.filter { try question.holds($0) }.count
                        if matches > Tally.chunk && random.chance(50) {
                            try oracle.verify(question, in: tx, using: &random, &tally)
                        }
                    }
                }
            }
            return tally
        }
    }

    /// Objects that were inserted, replaced, changed and deleted, so that the index entries have a history.
    private func fill(
        _ store: Store, _ count: Int, _ samples: Samples, using random: inout SeededRandom
    ) throws -> [Specimen] {
        var objects: [Int: Specimen] = [:]
        for id in (0..<count + count / 4).shuffled(using: &random) {
            objects[id] = samples.specimen(id, using: &random)
        }
        try store.write { tx in try tx.insert(contentsOf: objects.values.sorted { $0.id < $1.id }) }
        let ids = objects.keys.sorted().shuffled(using: &random)
        try store.write { tx in
            for id in ids.prefix(count / 4) {
                objects[id] = nil
                try tx.delete(Specimen.self, id: id)
            }
            for id in ids.dropFirst(count / 4).prefix(count / 4) {
                let replacement = samples.specimen(id, using: &random)
                objects[id] = replacement
                if random.chance(50) {
                    try tx.upsert(replacement)
                } else {
                    try tx.update(Specimen.self, id: id) { $0 = replacement }
                }
            }
        }
        return objects.values.sorted { $0.id < $1.id }
    }
}
