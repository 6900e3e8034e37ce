// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

@Suite struct InfoTests {
    @Test func tellsWhatTheCatalogKnows() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let run = try await Tool.run("info", store.path)
        #expect(run.status == 0 && run.errors.isEmpty)
        for line in [
            "store        \(store.path)", "format       1", "last commit  1", "history      commits 1 to 1",
            "Specimen (type 1): 4 objects, 1 pages, depth 1", "  keeper  string    Keeper", "  marks   [int64?]",
            "  layout 1 (current): id, name, note, flag, small, large, ratio, score, made, key, blob, tags, marks, keeper",
            "  Specimen(each tags)            5      1      1         0",
            "Keeper (type 2): 2 objects, 1 pages, depth 1",
        ] {
            #expect(run.lines.contains(line), "\(line)")
        }
    }

    @Test func jsonHoldsTheSame() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let run = try await Tool.run("info", store.path, "--json")
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        #expect(json["sequence"] as? Int == 1)
        #expect(UUID(uuidString: json["storeID"] as? String ?? "") != nil)
        #expect(json["oldestReaderLag"] is NSNull)
        #expect((json["readerSlots"] as? [String: Int])?["limit"] ?? 0 > 100)
        let types = try #require(json["types"] as? [[String: Any]])
        #expect(types.map { $0["name"] as? String } == ["Specimen", "Keeper"])
        #expect(types.map { $0["objects"] as? Int } == [4, 2])
        #expect((types[0]["indexes"] as? [[String: Any]])?.count == 4)
    }

    /// The tool's own transaction is none of the readers that somebody asks for.
    @Test func theToolCountedItselfAmongTheReaders() async throws {
        let specimens = try SpecimenStore()
        defer { specimens.remove() }
        func used() async throws -> Int? {
            let run = try await Tool.run("info", specimens.path, "--json")
            let json = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
            return (json?["readerSlots"] as? [String: Int])?["used"]
        }
        #expect(try await used() == 0)
        let store = try await Store.open(at: specimens.url, entities: Keeper.self)
        let before = try #require(try await used())
        let reader = OpenReader(store)
        await reader.begin()
        #expect(try await used() == max(before, 1))
        reader.end()
        try store.close()
        let run = try await Tool.run("info", specimens.path)
        #expect(run.output.contains("other processes hold 0 of ") && run.output.contains("; nobody reads"))
    }

    @Test func readsAStoreThatIsInUse() async throws {
        let specimens = try SpecimenStore()
        defer { specimens.remove() }
        let store = try await Store.open(at: specimens.url, entities: Specimen.self, Keeper.self)
        let reader = OpenReader(store)
        await reader.begin()
        try await store.write { tx in try tx.insert(Keeper(id: "cid", name: String(repeating: "c", count: 600))) }
        try await store.write { tx in try tx.insert(Keeper(id: "dan", name: "Dan")) }
        let run = try await Tool.run("info", specimens.path, "--json")
        reader.end()
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        #expect(json["oldestReaderLag"] as? Int == 2)
        #expect(json["sequence"] as? Int == 3)
        let query = try await Tool.run("query", specimens.path, "Keeper", "--where", "id>bob", "--json")
        #expect(query.lines.count == 5)
        try store.close()
    }

    @Test func countsKeysThatAreCut() async throws {
        let specimens = try SpecimenStore()
        defer { specimens.remove() }
        let store = try await Store.open(at: specimens.url, entities: Specimen.self, Keeper.self)
        var specimen = SpecimenStore.specimens[0]
        specimen.id = 5
        specimen.name = String(repeating: "n", count: 600)
        try await store.write { [specimen] tx in try tx.insert(specimen) }
        try store.close()
        let run = try await Tool.run("info", specimens.path)
        #expect(run.lines.contains { $0.hasPrefix("  Specimen(name) ") && $0.hasSuffix(" 1") })
        let ids = try await specimens.ids("--where", "name^=nnn", "--sort", "name")
        #expect(ids == [5])
    }
}

/// A read transaction on a thread of its own, for as long as a test wants it.
private final class OpenReader: Sendable {
    private let store: Store
    private let ended = DispatchSemaphore(value: 0)

    init(_ store: Store) { self.store = store }

    func begin() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread { [store, ended] in
                let began: Void? = try? store.read { _ in
                    continuation.resume()
                    ended.wait()
                }
                if began == nil { Issue.record("the reader did not begin") }
            }
        }
    }

    func end() { ended.signal() }
}
