// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

/// The oracle for entities with other IDs than integers.
@Suite("Queries by other kinds of ID equal the oracle's") struct IdentifierOracleTests {
    @Test(arguments: [false, true]) func stringIDs(long: Bool) throws {
        print("seed \(SeededRandom.seed) (ROOST_TEST_SEED)")
        var random = SeededRandom(seed: SeededRandom.seed)
        let samples = Samples(long: long, using: &random)
        let objects = Label.random(250, samples, using: &random)
        try verify("string IDs", objects, Label.criteria, rounds: 8, using: &random) { random in
            Label.questions(samples, objects, using: &random)
        }
    }

    @Test func uuidIDs() throws {
        var random = SeededRandom(seed: SeededRandom.seed)
        let objects = Ticket.random(150, using: &random)
        try verify("UUID IDs", objects, Ticket.criteria, rounds: 8, using: &random) { random in
            Ticket.questions(objects, using: &random)
        }
    }

    @Test func idsWithAnOrderOfTheirOwn() throws {
        var random = SeededRandom(seed: SeededRandom.seed)
        let objects = Crate.random(90, using: &random)
        try verify("crates", objects, Crate.criteria, rounds: 12, using: &random) { random in
            Crate.questions(objects, using: &random)
        }
    }

    private func verify<T: Entity>(
        _ label: String, _ objects: [T], _ criteria: [Criterion<T>], rounds: Int, using random: inout SeededRandom,
        _ questions: (inout SeededRandom) -> [Question<T>]
    ) throws {
        let oracle = Oracle(label, objects, criteria)
        try withTemporaryStore([T.self]) { store in
            try store.write { tx in try tx.insert(contentsOf: objects.shuffled(using: &random)) }
            let stored = try store.fetch(FetchDescriptor<T>())
            #expect(stored.map { Array("\($0)".utf8) } == objects.map { Array("\($0)".utf8) })
            try store.read { tx in
                var tally = Tally()
                for _ in 0..<rounds {
                    for question in questions(&random) { try oracle.verify(question, in: tx, using: &random, &tally) }
                }
            }
        }
    }
}
