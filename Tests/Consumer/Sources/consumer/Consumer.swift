// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

enum Genre: String, FieldValue {
    case novel, poetry, science
}

@Entity struct Author: Equatable {
    var id: String
    var name: String
}

@Entity struct Book: Equatable {
    var id: Int
    var title: String
    var genre: Genre
    var author: Ref<Author>
    var year: Int?

    static let indexes: [Index<Book>] = [Index(\.genre, \.year)]
}

/// What somebody does with Roost who has nothing but its product. Says what came out otherwise than expected.
@main
struct Consumer {
    static func main() async {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("consumer-\(UUID().uuidString).roost")
        var failures: [String] = []
        do {
            failures = try await use(place)
        } catch {
            failures = ["threw \(error)"]
        }
        try? FileManager.default.removeItem(at: place)
        for failure in failures { print("consumer: \(failure)") }
        if failures.isEmpty { print("consumer: all as expected") }
        exit(failures.isEmpty ? 0 : 1)
    }

    static func use(_ place: URL) async throws -> [String] {
        var failures: [String] = []
        func expect<Value: Equatable>(_ what: String, _ value: Value, _ expected: Value) {
            if value != expected { failures.append("\(what): \(value), not \(expected)") }
        }

        let store = try await Store.open(at: place, entities: Book.self, Author.self)
        let books = [
            Book(id: 1, title: "Emma", genre: .novel, author: Ref("austen"), year: 1815),
            Book(id: 2, title: "Persuasion", genre: .novel, author: Ref("austen"), year: 1817),
            Book(id: 3, title: "Poems", genre: .poetry, author: Ref("dickinson"), year: nil),
        ]
        try await store.write { tx in
            try tx.insert(Author(id: "austen", name: "Jane Austen"))
            try tx.insert(contentsOf: books)
        }
        expect("get", try await store.get(Book.self, id: 3), books[2])
        expect("a field's object", try await store.get(Author.self, id: books[0].author.id)?.name, "Jane Austen")

        let genre = Genre.novel
        let novels = FetchDescriptor<Book>(
            predicate: #Predicate { $0.genre == genre }, sortBy: [SortDescriptor(\.year, order: .reverse)])
        expect("fetch", try await store.fetch(novels), [books[1], books[0]])
        expect("count", try await store.count(FetchDescriptor<Book>(predicate: #Predicate { $0.year == nil })), 1)

        var titles = novels.makeObserver { $0.map(\.title) }.values(store).makeAsyncIterator()
        expect("first value", try await titles.next(), ["Persuasion", "Emma"])
        try await store.write { tx in
            _ = try tx.update(Book.self, id: 1) { $0.year = 1820 }
        }
        expect("next value", try await titles.next(), ["Emma", "Persuasion"])

        let resolver = try store.resolver(for: Book.self)
        var resolved = resolver.values.makeAsyncIterator()
        resolver.resolve([3, 404, 1])
        expect("resolved", await resolved.next()?.map(\.id), [3, 1])
        return failures
    }
}
