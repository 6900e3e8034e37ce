// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

/// Every kind of range that a predicate can capture, by every plan, against Foundation's own evaluation.
@Suite struct CapturedRangeTests {
    @Test func everyKindOfRange() throws {
        let (half, closed, from, through, upTo) = (3..<7, 3...7, 5..., ...5, ..<5)
        let predicates: [Predicate<Storage.Note>] = [
            #Predicate { half.contains($0.id) },
            #Predicate { closed.contains($0.id) },
            #Predicate { from.contains($0.id) },
            #Predicate { through.contains($0.id) },
            #Predicate { upTo.contains($0.id) },
            #Predicate { !from.contains($0.id) && closed.contains($0.id) },
        ]
        let notes = (0..<10).map { Storage.Note(id: $0, text: "note \($0)") }
        try Store.withTemporary(Storage.Note.self) { store in
            try store.write { tx in try tx.insert(contentsOf: notes) }
            for (number, predicate) in predicates.enumerated() {
                let request = FetchDescriptor(predicate: predicate)
                let expected = try notes.filter { try predicate.evaluate($0) }.map(\.id)
                #expect(!expected.isEmpty && expected.count < notes.count)
                try store.read { tx in
                    for execution in try tx.context.planner(request).all() {
                        let found = try tx.context.rows(Storage.Note.self, execution).map(\.id)
                        #expect(found == expected, "predicate \(number), \(execution.describe())")
                    }
                }
                #expect(try store.ids(request) == expected)
                #expect(try store.count(request) == expected.count)
            }
        }
    }
}
