// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// An update of one number of an object with an indexed array of 100,000 elements once made 200,000 keys and took 0.4 s.
@Suite struct ElementIndexTests {
    @Entity struct Album: Equatable {
        var id: Int
        var plays: Int
        var songs: [Int]
        static let indexes: [Index<Album>] = [Index(each: \.songs)]
    }

    @Entity struct Mixture: Equatable {
        var id: Int
        var numbers: [Double]
        var texts: [String]
        var gaps: [String?]
        var counts: [Int?]
        static let indexes: [Index<Mixture>] = [
            Index(each: \.numbers), Index(each: \.texts), Index(each: \.gaps), Index(each: \.counts),
        ]
    }

    /// The keys that `change` makes.
    private func keysMade(
        songs: Int = 10_000, _ change: (borrowing WriteTransaction) throws -> Void
    ) throws -> Int {
        var keys: Int?
        try Store.withTemporary(Album.self) { (store) throws in
            try store.write { tx in try tx.insert(Album(id: 1, plays: 0, songs: (0..<songs).map { 2 * $0 })) }
            keys = try store.write { tx in
                try change(tx)
                return tx.session.indexes.keysMade
            }
            let album = try #require(try store.get(Album.self, id: 1))
            #expect(try store.indexEntries("Album")[0].count == Set(album.songs).count + 1)
        }
        return try #require(keys)
    }

    @Test func anotherFieldOfAnObjectWithManyElementsMakesNoKey() throws {
        let update = try keysMade { tx in try tx.update(Album.self, id: 1) { $0.plays += 1 } }
        #expect(update == 0)
        let upsert = try keysMade { tx in
            try tx.upsert(Album(id: 1, plays: 7, songs: (0..<10_000).map { 2 * $0 }))
        }
        #expect(upsert == 0)
    }

    @Test func anElementMoreMakesOneKey() throws {
        let appended = try keysMade { tx in try tx.update(Album.self, id: 1) { $0.songs.append(-1) } }
        #expect(appended == 1)
        let inserted = try keysMade { tx in
            try tx.update(Album.self, id: 1) { $0.songs.insert(contentsOf: [1, 3], at: 0) }
        }
        #expect(inserted == 2)
        let between = try keysMade { tx in try tx.update(Album.self, id: 1) { $0.songs.insert(77_777, at: 5_000) } }
        #expect(between == 1)
    }

    @Test func anElementThatGoesIsLookedForAmongTheOthers() throws {
        try Store.withTemporary(Album.self) { (store) throws in
            try store.write { tx in try tx.insert(Album(id: 1, plays: 0, songs: [5, 6, 5, 7])) }
            try store.write { tx in try tx.update(Album.self, id: 1) { $0.songs.removeLast(2) } }
            #expect(try store.ids(FetchDescriptor(predicate: #Predicate<Album> { $0.songs.contains(5) })) == [1])
            #expect(try store.ids(FetchDescriptor(predicate: #Predicate<Album> { $0.songs.contains(7) })) == [])
        }
    }

    /// Whatever is done to arrays, the entries are those of an object that was inserted so.
    @Test func entriesAreThoseOfTheNewElements() throws {
        var random = SeededGenerator()
        func edited<Element>(_ list: [Element], _ values: [Element]) -> [Element] {
            var list = list
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let place = Int.random(in: 0...list.count, using: &random)
                let few = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in
                    values.randomElement(using: &random)
                }
                switch Int.random(in: 0..<5, using: &random) {
                case 0: list.insert(contentsOf: few, at: place)
                case 1: list.append(contentsOf: few)
                case 2: list.removeSubrange(place..<min(list.count, place + few.count))
                case 3: list.replaceSubrange(place..<min(list.count, place + 1), with: few)
                default: list.shuffle(using: &random)
                }
            }
            return list
        }
        let long = String(repeating: "long ", count: 120)
        let texts = ["", "a", "\u{E9}", "e\u{301}", "b\0", long, long + "x", "\u{1112}\u{1161}"]
        let numbers = [0, -0.0, .nan, -.nan, 1, .infinity, -3.5]
        try Store.withTemporary(Mixture.self) { (store) throws in
            var mixture = Mixture(id: 1, numbers: [], texts: [], gaps: [], counts: [])
            try store.write { tx in
                try tx.insert(mixture)
                try tx.insert(Mixture(id: 2, numbers: numbers, texts: texts, gaps: texts + [nil], counts: [nil, 3]))
            }
            for round in 0..<repetitions(150, thorough: 5_000) {
                mixture.numbers = edited(mixture.numbers, numbers)
                mixture.texts = edited(mixture.texts, texts)
                mixture.gaps = edited(mixture.gaps, texts + [nil])
                mixture.counts = edited(mixture.counts, [nil, 0, 1, 2, -1])
                try store.write { tx in try tx.update(mixture) }
                let updated = try store.indexEntries("Mixture")
                try store.write { tx in try tx.delete(Mixture.self, id: 1) }
                try store.write { tx in try tx.insert(mixture) }
                #expect(try updated == store.indexEntries("Mixture"), "round \(round): \(mixture)")
            }
        }
    }
}
