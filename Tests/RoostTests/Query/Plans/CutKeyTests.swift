// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

@Entity struct Essay {
    var id: Int
    var text: String
    static let indexes: [Index<Essay>] = [Index(\.text)]
}

/// Texts that are longer than a key says nothing about order beyond the cut.
@Suite("An index orders its entries only while all its keys are whole") struct CutKeyTests {
    private let long = String(repeating: "x", count: 400)
    private let whole = "index scan Essay(text), limit 2"
    private let sorted = "table scan of Essay, keep the first 2, limit 2"

    private func plan(_ store: Store) throws -> String {
        var request = FetchDescriptor<Essay>(sortBy: [SortDescriptor(\.text)])
        request.fetchLimit = 2
        return try store.explain(request).plan
    }

    @Test func insertedReplacedAndDeleted() throws {
        try withTemporaryStore([Essay.self]) { store in
            try store.write { tx in for id in 0..<50 { try tx.insert(Essay(id: id, text: "\(id)")) } }
            #expect(try plan(store) == whole)
            try store.write { tx in
                try tx.insert(Essay(id: 100, text: long + "b"))
                try tx.insert(Essay(id: 101, text: long + "a"))
            }
            #expect(try plan(store) == sorted)
            try store.write { tx in
                try tx.upsert(Essay(id: 100, text: long + "c"))
                try tx.update(Essay.self, id: 101) { $0.text = "short" }
            }
            #expect(try plan(store) == sorted)
            _ = try store.write { tx in try tx.delete(Essay.self, id: 100) }
            #expect(try plan(store) == whole)
        }
    }

    @Test func aWriteThatFailsChangesNothing() throws {
        struct Stop: Error {}
        try withTemporaryStore([Essay.self]) { store in
            try store.write { tx in for id in 0..<50 { try tx.insert(Essay(id: id, text: "\(id)")) } }
            do {
                try store.write { (tx) throws -> Void in
                    try tx.insert(Essay(id: 100, text: long))
                    throw Stop()
                }
            } catch is Stop {}
            #expect(try plan(store) == whole)
        }
    }

    @Test func theCutTextsAreFoundByEqualityAndSorted() throws {
        try withTemporaryStore([Essay.self]) { store in
            let ends = ["b", "a", "d", "", "c"]
            let texts = ends.map { long + $0 }
            try store.write { tx in
                for (id, text) in texts.enumerated() { try tx.insert(Essay(id: id, text: text)) }
                for id in 0..<400 { try tx.insert(Essay(id: 10 + id, text: "\(id)")) }
            }
            let wanted = texts[2]
            let equal = FetchDescriptor<Essay>(predicate: #Predicate { $0.text == wanted })
            let explanation = try store.explain(equal)
            #expect(explanation.plan.hasPrefix("index scan Essay(text), in a range, filter on records"))
            #expect(explanation.recordsRead == 1)
            #expect(try store.fetch(equal).map(\.id) == [2])
            let prefix = long
            let starting = FetchDescriptor<Essay>(
                predicate: #Predicate { $0.text.starts(with: prefix) }, sortBy: [SortDescriptor(\.text)])
            #expect(try store.fetch(starting).map(\.id) == [3, 1, 0, 4, 2])
        }
    }
}
