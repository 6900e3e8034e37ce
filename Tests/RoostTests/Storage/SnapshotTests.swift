// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

@Suite struct SnapshotTests {
    private struct Mine: Error {}

    private func withNotes(_ count: Int, _ body: (Store) throws -> Void) throws {
        try Store.withTemporary(Storage.Note.self) { store in
            try store.write { tx in
                for id in 0..<count { try tx.insert(Storage.Note(id: id, text: "text of note \(id % 10)")) }
            }
            try body(store)
        }
    }

    // Hazard 21: values own their bytes.
    @Test func valuesStayRightAfterLaterWritesAndAfterTheTransaction() throws {
        var random = SeededGenerator()
        let objects = (0..<30).map { Storage.Everything.random(id: $0, using: &random) }
        let before = objects.map(\.fingerprint)
        try withTemporaryFolder { folder in
            let store = try Store.open(folder + "/S.roost", Storage.Everything.self)
            try store.write { tx in try tx.insert(contentsOf: objects) }
            let outside = try store.all(Storage.Everything.self)
            let single = try #require(try store.get(Storage.Everything.self, id: 7))
            var inside: [Storage.Everything] = []
            try store.write { tx in
                inside = try tx.fetch(FetchDescriptor<Storage.Everything>())
                // The pages that they were read from are written over within the transaction and by later ones.
                for object in objects.reversed() {
                    try tx.upsert(Storage.Everything.random(id: object.id, using: &random))
                }
                for id in 0..<15 { try tx.delete(Storage.Everything.self, id: id) }
            }
            for _ in 0..<5 {
                try store.write { tx in
                    for id in 100..<130 { try tx.upsert(Storage.Everything.random(id: id, using: &random)) }
                }
            }
            #expect(outside.map(\.fingerprint) == before)
            #expect(inside.map(\.fingerprint) == before)
            #expect(single.fingerprint == before[7])
            try store.close()
            #expect(outside.map(\.fingerprint) == before)
        }
    }

    // Hazard 22
    @Test(arguments: [1, 2, 7, 500])
    func deletingWhatAScanFound(step: Int) throws {
        try withNotes(500) { store in
            let request = FetchDescriptor<Storage.Note>(sortBy: [SortDescriptor(\.text)])
            try store.write { tx in
                var position = 0
                for id in try tx.ids(request) {
                    if position % step == 0 { #expect(try tx.delete(Storage.Note.self, id: id)) }
                    position += 1
                }
                #expect(try tx.count(FetchDescriptor<Storage.Note>()) == 500 - (499 / step + 1))
            }
            let left = try store.all(Storage.Note.self)
            #expect(left.count == 500 - (499 / step + 1))
            for digit in 0..<10 {
                let text = "text of note \(digit)"
                let byText = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text == text })
                #expect(try store.ids(byText) == left.filter { $0.text == text }.map(\.id))
            }
        }
    }

    // Hazard 22
    @Test func deletingTheLastFoundUntilNothingIsLeft() throws {
        try withNotes(120) { store in
            try store.write { tx in
                var request = FetchDescriptor<Storage.Note>(sortBy: [SortDescriptor(\.text, order: .reverse)])
                request.fetchLimit = 1
                var count = 0
                while let last = try tx.ids(request).first {
                    #expect(try tx.delete(Storage.Note.self, id: last))
                    count += 1
                }
                #expect(count == 120)
            }
            #expect(try store.all(Storage.Note.self).isEmpty)
        }
    }

    // Hazard 35
    @Test func throwingOutOfEveryFormOfScanLeavesNothingBehind() throws {
        try withNotes(300) { store in
            let table = FetchDescriptor<Storage.Note>()
            let index = FetchDescriptor<Storage.Note>(
                predicate: #Predicate { $0.text > "text of note 3" }, sortBy: [SortDescriptor(\.text)])
            let reversed = FetchDescriptor<Storage.Note>(sortBy: [SortDescriptor(\.text, order: .reverse)])
            let sorted = FetchDescriptor<Storage.Note>(
                predicate: #Predicate { $0.id > 5 },
                sortBy: [SortDescriptor(\.text), SortDescriptor(\.id, order: .reverse)])
            let lookup = FetchDescriptor<Storage.Note>(predicate: #Predicate { [3, 4, 5, 6].contains($0.id) })
            for request in [table, index, reversed, sorted, lookup] {
                for place in [1, 2, 4] {
                    let read = failure {
                        try store.read { tx in
                            var seen = 0
                            try tx.forEach(request) { _ in
                                seen += 1
                                if seen == place { throw Mine() }
                            }
                        }
                    }
                    #expect(read is Mine)
                    let write = failure {
                        try store.write { tx in
                            try tx.upsert(Storage.Note(id: 900, text: "never"))
                            try tx.forEach(request) { _ in throw Mine() }
                        }
                    }
                    #expect(write is Mine)
                    // Caught inside, the transaction goes on and commits.
                    try store.write { tx in
                        var seen = 0
                        let caught = failure {
                            try tx.forEach(request) { _ in
                                seen += 1
                                if seen == place { throw Mine() }
                            }
                        }
                        #expect(caught is Mine)
                        try tx.upsert(Storage.Note(id: 800, text: "\(place)"))
                    }
                    #expect(try store.get(Storage.Note.self, id: 800)?.text == "\(place)")
                    #expect(try store.get(Storage.Note.self, id: 900) == nil)
                }
            }
            // What the caller's closures of other calls throw passes through as well.
            #expect(failure(of: { try store.read { _ in throw Mine() } }) is Mine)
            #expect(failure(of: { try store.write { _ in throw Mine() } }) is Mine)
            let update = failure {
                try store.write { tx in try tx.update(Storage.Note.self, id: 1) { _ in throw Mine() } }
            }
            #expect(update is Mine)
            #expect(!store.engine.environment.isBusyOnThisThread)
            #expect(store.engine.environment.oldestReader == nil)
            #expect(store.engine.environment.oldestReaderLag == nil)
        }
    }

    // Hazard 35: errors of the store's own, from every form of reading.
    @Test func errorsOfReadingLeaveNothingBehind() throws {
        try withNotes(50) { store in
            let healthy = try #require(try store.record("Note", 25))
            try store.overwrite("Note", 25, with: Array(healthy.dropLast(3)))
            let byID = FetchDescriptor<Storage.Note>()
            let byText = FetchDescriptor<Storage.Note>(sortBy: [SortDescriptor(\.text)])
            for round in 0..<5 {
                try store.write { tx in
                    for request in [byID, byText] {
                        #expect(code(failure(of: { try tx.fetch(request) })) == .damaged)
                        #expect(code(failure(of: { try tx.forEach(request) { _ in } })) == .damaged)
                    }
                    #expect(code(failure(of: { try tx.get(Storage.Note.self, id: 25) })) == .damaged)
                    #expect(code(failure(of: { try tx.get(Storage.Note.self, ids: [24, 25]) })) == .damaged)
                    try tx.upsert(Storage.Note(id: 1_000 + round, text: "later"))
                }
                #expect(code(failure(of: { try store.all(Storage.Note.self) })) == .damaged)
            }
            try store.overwrite("Note", 25, with: healthy)
            #expect(try store.all(Storage.Note.self).count == 55)
            #expect(store.engine.environment.oldestReaderLag == nil)
        }
    }
}
