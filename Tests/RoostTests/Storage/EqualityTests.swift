// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// Hazard 20: equality through an index, through a scan and by Swift are one.
@Suite struct EqualityTests {
    enum Indexed {
        @Entity struct Thing {
            var id: Int
            var number: Double
            var optional: Double?
            var text: String
            var maybe: String?
            var data: Data
            static let indexes: [Index<Thing>] = [
                Index(\.number), Index(\.optional), Index(\.text), Index(\.maybe), Index(\.data),
            ]
        }
    }

    enum Plain {
        @Entity struct Thing {
            var id: Int
            var number: Double
            var optional: Double?
            var text: String
            var maybe: String?
            var data: Data
        }
    }

    private static let numbers: [Double] = [
        0, -0.0, .nan, -.nan, .signalingNaN, .infinity, -.infinity, 1, .leastNonzeroMagnitude,
    ]
    private static let texts = [
        "", "\0", "\0\0", "\u{1}", "a", "a\0", "é", "e\u{301}", "e", "한", "\u{1112}\u{1161}\u{11AB}", "\u{212B}", "Å",
        "ﬁ", "fi",
        String(repeating: "x", count: 600), String(repeating: "x", count: 601), String(repeating: "é", count: 300),
        String(repeating: "e\u{301}", count: 300),
    ]

    private func withBoth(_ body: (Store, Store) throws -> Void) throws {
        try Store.withTemporary(Indexed.Thing.self) { indexed in
            try Store.withTemporary(Plain.Thing.self) { plain in
                for id in 0..<60 {
                    let number = Self.numbers[id % Self.numbers.count]
                    let text = Self.texts[id % Self.texts.count]
                    try indexed.write { tx in
                        try tx.insert(
                            Indexed.Thing(
                                id: id, number: number, optional: id % 4 == 0 ? nil : number, text: text,
                                maybe: id % 5 == 0 ? nil : text, data: Data(text.utf8)))
                    }
                    try plain.write { tx in
                        try tx.insert(
                            Plain.Thing(
                                id: id, number: number, optional: id % 4 == 0 ? nil : number, text: text,
                                maybe: id % 5 == 0 ? nil : text, data: Data(text.utf8)))
                    }
                }
                try body(indexed, plain)
            }
        }
    }

    /// Compares three answers: with an index, without one, and the closure's.
    private func check(
        _ stores: (Store, Store), _ indexed: Predicate<Indexed.Thing>, _ plain: Predicate<Plain.Thing>, index: String?,
        _ isExpected: (Plain.Thing) -> Bool, _ what: String
    ) throws {
        let all = try stores.1.all(Plain.Thing.self)
        let expected = all.filter(isExpected).map(\.id)
        let fast = FetchDescriptor(predicate: indexed)
        #expect(try stores.0.fetch(fast).map(\.id) == expected, "index: \(what)")
        #expect(try stores.0.count(fast) == expected.count, "index, count: \(what)")
        #expect(try stores.1.fetch(FetchDescriptor(predicate: plain)).map(\.id) == expected, "scan: \(what)")
        if let index {
            // Every plan that gives the result gives the same one.
            try stores.0.read { tx in
                let executions = try tx.context.planner(fast).all()
                #expect(executions.contains { $0.describe().contains(index) })
                for execution in executions {
                    let ids = try tx.context.ids(Specimen.self, execution)
                    #expect(ids == expected, "\(execution.describe()): \(what)")
                }
            }
        }
    }

    @Test func numbers() throws {
        try withBoth { indexed, plain in
            for value in Self.numbers {
                try check(
                    (indexed, plain), #Predicate { $0.number == value }, #Predicate { $0.number == value },
                    index: value.isNaN ? nil : "number", { $0.number == value }, "== \(value)")
                try check(
                    (indexed, plain), #Predicate { $0.optional == value }, #Predicate { $0.optional == value },
                    index: value.isNaN ? nil : "optional", { $0.optional == value }, "optional == \(value)")
                try check(
                    (indexed, plain), #Predicate { $0.number != value }, #Predicate { $0.number != value }, index: nil,
                    { $0.number != value }, "!= \(value)")
                try check(
                    (indexed, plain), #Predicate { $0.number >= value }, #Predicate { $0.number >= value }, index: nil,
                    { $0.number >= value }, ">= \(value)")
                try check(
                    (indexed, plain), #Predicate { $0.number < value }, #Predicate { $0.number < value }, index: nil,
                    { $0.number < value }, "< \(value)")
            }
            try check(
                (indexed, plain), #Predicate { $0.optional == nil }, #Predicate { $0.optional == nil },
                index: "optional",
                { $0.optional == nil }, "== nil")
            try check(
                (indexed, plain), #Predicate { $0.optional != nil }, #Predicate { $0.optional != nil }, index: nil,
                { $0.optional != nil }, "!= nil")
        }
    }

    @Test func texts() throws {
        try withBoth { indexed, plain in
            for value in Self.texts {
                try check(
                    (indexed, plain), #Predicate { $0.text == value }, #Predicate { $0.text == value }, index: "text",
                    { $0.text == value }, "text == \(value.debugDescription)")
                try check(
                    (indexed, plain), #Predicate { $0.maybe == value }, #Predicate { $0.maybe == value },
                    index: "maybe",
                    { $0.maybe == value }, "maybe == \(value.debugDescription)")
                try check(
                    (indexed, plain), #Predicate { $0.text != value }, #Predicate { $0.text != value }, index: nil,
                    { $0.text != value }, "text != \(value.debugDescription)")
                let data = Data(value.utf8)
                try check(
                    (indexed, plain), #Predicate { $0.data == data }, #Predicate { $0.data == data }, index: nil,
                    { $0.data == data }, "data of \(value.debugDescription)")
            }
            try check(
                (indexed, plain), #Predicate { $0.maybe == nil }, #Predicate { $0.maybe == nil }, index: "maybe",
                { $0.maybe == nil }, "== nil")
        }
    }

    /// Two spellings of one text are one ID; the spelling of the last write stays.
    @Test func oneIDInTwoSpellings() throws {
        try Store.withTemporary(Storage.Label.self) { store in
            try store.write { tx in try tx.insert(Storage.Label(id: "é", rank: 1)) }
            let error = failure(of: { try store.write { tx in try tx.insert(Storage.Label(id: "e\u{301}", rank: 2)) } })
            #expect(code(error) == .alreadyExists)
            try store.write { tx in try tx.upsert(Storage.Label(id: "e\u{301}", rank: 3)) }
            let label = try #require(try store.get(Storage.Label.self, id: "é"))
            #expect(label.rank == 3 && label.id.unicodeScalars.count == 2)
            #expect(try store.count(FetchDescriptor<Storage.Label>()) == 1)
        }
    }
}
