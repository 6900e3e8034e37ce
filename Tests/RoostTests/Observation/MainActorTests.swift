// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

@Entity private struct Line {
    var id: Int
    var text: String
}

/// What a view model on the main actor does, in the forms that Swift could refuse because something would be sent.
@MainActor private final class Page {
    private(set) var texts: [String] = []

    func load(from store: Store) async throws {
        texts = try await store.fetch(FetchDescriptor<Line>()).map(\.text)
    }

    func count(in store: Store) async throws -> Int {
        try await store.read { tx in try tx.count(FetchDescriptor<Line>()) }
    }

    func save(to store: Store) async throws {
        let lines = texts.enumerated().map { Line(id: $0.offset, text: $0.element + "!") }
        try await store.write { tx in try tx.upsert(contentsOf: lines) }
    }

    /// Takes values one by one, where the iterator's values are delivered.
    func follow(_ store: Store, _ values: Int) async throws -> [[String]] {
        var all: [[String]] = []
        var iterator = FetchDescriptor<Line>().makeObserver { $0.map(\.text) }.values(store).makeAsyncIterator()
        for _ in 0..<values {
            guard let next = try await iterator.next() else { break }
            MainActor.assertIsolated()
            texts = next
            all.append(next)
            try await save(to: store)
        }
        return all
    }

    func chunks(of store: Store) async throws -> Int {
        var count = 0
        for try await chunk in store.chunks(FetchDescriptor<Line>(), size: 2) {
            MainActor.assertIsolated()
            count += chunk.count
        }
        return count
    }

    func firstResolved(in store: Store) async throws -> [String]? {
        let resolver = try store.resolver(for: Line.self)
        resolver.resolve([1, 0])
        var values = resolver.values.makeAsyncIterator()
        return await values.next()?.map(\.text)
    }
}

@Suite("Every asynchronous form is called from the main actor") struct MainActorTests {
    @MainActor @Test func aStoreIsUsedFromTheMainActor() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("main-\(UUID().uuidString).roost")
        defer { try? FileManager.default.removeItem(at: url) }
        let store = try await Store.open(at: url, options: .init(durability: .unsafe), entities: Line.self)
        let page = Page()
        var commits = store.commits().makeAsyncIterator()
        try await store.write { tx in for id in 0..<3 { try tx.insert(Line(id: id, text: "\(id)")) } }
        #expect(await commits.next() != nil)
        try await page.load(from: store)
        #expect(page.texts == ["0", "1", "2"])
        #expect(try await page.count(in: store) == 3)
        #expect(try await page.follow(store, 2) == [["0", "1", "2"], ["0!", "1!", "2!"]])
        #expect(try await page.chunks(of: store) == 3)
        #expect(try await page.firstResolved(in: store) == ["1!!", "0!!"])
        try store.close()
    }
}
