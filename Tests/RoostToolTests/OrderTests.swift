// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

@Suite struct OrderTests {
    @Test(arguments: [
        ([], [1, 2, 3, 4]),
        (["id:desc"], [4, 3, 2, 1]),
        (["name"], [4, 2, 1, 3]),
        (["name:desc"], [3, 1, 2, 4]),
        // Nil first, NaN last.
        (["score"], [3, 1, 4, 2]),
        (["score:desc"], [2, 4, 1, 3]),
        (["made:asc"], [3, 4, 1, 2]),
        (["large"], [2, 4, 3, 1]),
        // Ties by ID in the direction of the last criterion.
        (["flag"], [2, 4, 1, 3]),
        (["flag:desc"], [3, 1, 4, 2]),
        (["flag:desc", "small"], [1, 3, 2, 4]),
        (["flag", "small:desc"], [4, 2, 3, 1]),
        (["keeper", "small"], [1, 4, 3, 2]),
        (["id:desc", "name"], [4, 3, 2, 1]),
    ])
    func sorts(by criteria: [String], gives ids: [Int]) async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let arguments = criteria.flatMap { ["--sort", $0] }
        for (limit, offset) in [(nil, 0), (2, 0), (2, 1), (0, 0), (Int.max, Int.max), (Int.max, 0)] {
            let bounds = (limit.map { ["--limit", "\($0)"] } ?? []) + ["--offset", "\(offset)"]
            let wanted = Array(ids.dropFirst(offset).prefix(limit ?? .max))
            let run = try await Tool.run(["query", store.path, "Specimen", "--json"] + arguments + bounds)
            let rows = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]]
            #expect(rows?.compactMap { $0["id"] as? Int } == wanted, "\(criteria) \(bounds) \(run.errors)")
        }
    }

    @Test func anIndexServesConditionOrderAndLimit() async throws {
        let specimens = try SpecimenStore()
        defer { specimens.remove() }
        // With fewer objects a scan would be cheaper.
        let store = try await Store.open(at: specimens.url, entities: Specimen.self)
        try await store.write { tx in
            for id in 100..<300 {
                var specimen = SpecimenStore.specimens[1]
                specimen.id = id
                try tx.insert(specimen)
            }
        }
        try store.close()
        let run = try await Tool.run(
            "query", specimens.path, "Specimen", "--where", "keeper=ann", "--sort", "small:desc", "--limit", "1",
            "--explain")
        #expect(run.status == 0 && run.errors.isEmpty)
        #expect(
            run.output.contains("\n(1 object)\n\nindex scan Specimen(keeper, small), in a range, backwards, limit 1\n"))
        #expect(run.output.hasSuffix("counted: 1 index entries visited, 1 records read, 1 rows given\n"))
    }
}
