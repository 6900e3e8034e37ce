// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// Hazard 13: a read inside a write of the same store once answered from before the write, without a word.
@Suite struct ReadInsideWriteTests {
    private struct Mine: Error {}

    private func withTwo(_ body: (Store, Store) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let first = try Store.open(folder + "/S.roost", Storage.Note.self)
            let second = try Store.open(folder + "/S.roost", Storage.Note.self)
            try first.write { tx in
                for id in 1...3 { try tx.insert(Storage.Note(id: id, text: "old")) }
            }
            try body(first, second)
            try second.close()
            try first.close()
        }
    }

    /// Changes the three notes to one that is changed, one that is new and one that is as it was.
    private func change(_ tx: borrowing WriteTransaction) throws {
        try tx.upsert(Storage.Note(id: 1, text: "new"))
        try tx.delete(Storage.Note.self, id: 2)
        try tx.insert(Storage.Note(id: 4, text: "newer"))
    }

    /// Asserts what every form of reading shows after `change`.
    private func verifyChanged(_ store: Store, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let all = FetchDescriptor<Storage.Note>()
        let byText = FetchDescriptor<Storage.Note>(
            predicate: #Predicate { $0.text.starts(with: "new") }, sortBy: [SortDescriptor(\.text)])
        #expect(try store.get(Storage.Note.self, id: 1)?.text == "new", sourceLocation: sourceLocation)
        #expect(try store.get(Storage.Note.self, id: 2) == nil, sourceLocation: sourceLocation)
        #expect(
            try store.get(Storage.Note.self, ids: [4, 2, 3]).map(\.text) == ["newer", "old"],
            sourceLocation: sourceLocation)
        #expect(try store.fetch(all).map(\.id) == [1, 3, 4], sourceLocation: sourceLocation)
        #expect(try store.fetch(byText).map(\.id) == [1, 4], sourceLocation: sourceLocation)
        #expect(try store.first(byText)?.id == 1, sourceLocation: sourceLocation)
        #expect(try store.count(all) == 3, sourceLocation: sourceLocation)
        #expect(try store.count(byText) == 2, sourceLocation: sourceLocation)
        #expect(try store.ids(byText) == [1, 4], sourceLocation: sourceLocation)
        let explanation = try store.explain(byText)
        #expect(explanation.rows == 2, sourceLocation: sourceLocation)
        // Of this fetch, not of the transaction.
        #expect(explanation.entriesVisited <= 3, sourceLocation: sourceLocation)
        #expect(explanation.recordsRead <= 3, sourceLocation: sourceLocation)
        try store.read { tx in
            var seen: [Int] = []
            try tx.forEach(all) { seen.append($0.id) }
            #expect(seen == [1, 3, 4], sourceLocation: sourceLocation)
            #expect(try tx.fetch(byText).map(\.id) == [1, 4], sourceLocation: sourceLocation)
            #expect(try tx.sequence() == 1, sourceLocation: sourceLocation)
        }
    }

    @Test func everyFormOfReadingSeesTheWrite() throws {
        try withTwo { first, second in
            try first.write { tx in
                try change(tx)
                try verifyChanged(first)
                // Another `Store` of the same file is the same store.
                try verifyChanged(second)
                try first.read { _ in try second.read { _ in try verifyChanged(first) } }
            }
            #expect(try first.count(FetchDescriptor<Storage.Note>()) == 3)
            try first.read { (tx) throws in #expect(try tx.sequence() == 2) }
        }
    }

    @Test func onTheWritersThreadAsWell() async throws {
        try await Store.withTemporary(Storage.Note.self) { store in
            try await store.write { tx in
                for id in 1...3 { try tx.insert(Storage.Note(id: id, text: "old")) }
            }
            try await store.write { tx in
                try self.change(tx)
                try self.verifyChanged(store)
            }
        }
    }

    /// What was handed out before the next change is not shown again after it.
    @Test func aReadThatSpansChangesOfItsWriteSeesEachOfThem() throws {
        try withTwo { first, _ in
            try first.write { tx in
                try first.read { inner in
                    for round in 0..<200 {
                        try tx.upsert(Storage.Note(id: 1, text: "round \(round)"))
                        #expect(try inner.get(Storage.Note.self, id: 1)?.text == "round \(round)")
                        #expect(try first.get(Storage.Note.self, id: 1)?.text == "round \(round)")
                        try tx.insert(Storage.Note(id: 1_000 + round, text: String(repeating: "x", count: round * 20)))
                        #expect(try inner.count(FetchDescriptor<Storage.Note>()) == 4 + round)
                    }
                }
            }
        }
    }

    @Test func aReadAroundAWriteKeepsItsSnapshot() throws {
        try withTwo { first, second in
            try first.read { outer in
                try second.write { tx in
                    try change(tx)
                    try verifyChanged(first)
                    // The outer read is older than the write, whoever asks it.
                    #expect(try outer.get(Storage.Note.self, id: 1)?.text == "old")
                    #expect(try outer.count(FetchDescriptor<Storage.Note>()) == 3)
                    #expect(try outer.get(Storage.Note.self, id: 2) != nil)
                }
                #expect(try outer.get(Storage.Note.self, id: 1)?.text == "old")
                #expect(try first.get(Storage.Note.self, id: 1)?.text == "old")
            }
            #expect(try first.get(Storage.Note.self, id: 1)?.text == "new")
        }
    }

    @Test func aTransactionOfAnotherStoreInBetweenChangesNothing() throws {
        try withTwo { first, second in
            try withTwo { other, _ in
                try first.write { tx in
                    try change(tx)
                    try other.read { _ in try verifyChanged(second) }
                    try other.write { inner in
                        try inner.upsert(Storage.Note(id: 1, text: "other"))
                        try verifyChanged(first)
                        #expect(try other.get(Storage.Note.self, id: 1)?.text == "other")
                    }
                    #expect(try other.get(Storage.Note.self, id: 1)?.text == "other")
                }
            }
        }
    }

    @Test func otherThreadsSeeTheLastCommit() throws {
        try withTwo { first, second in
            try first.write { tx in
                try change(tx)
                try onThreads(2) { (thread) throws in
                    let store = thread == 0 ? first : second
                    #expect(try store.get(Storage.Note.self, id: 1)?.text == "old")
                    #expect(try store.count(FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.id == 4 })) == 0)
                }
            }
        }
    }

    /// After a write that failed, a read inside says why, as the transaction's own does.
    @Test func afterAFailedWriteAReadSaysWhy() throws {
        try withTemporaryFolder { folder in
            let options = Store.Options(durability: .unsafe, maximumSize: 1 << 20)
            let store = try Store.open(folder + "/S.roost", options: options, Storage.Note.self)
            let error = failure {
                try store.write { tx in
                    let full = failure {
                        for id in 0..<10_000 {
                            try tx.insert(Storage.Note(id: id, text: String(repeating: "long", count: 250)))
                        }
                    }
                    #expect(code(full) == .storeFull)
                    #expect(code(failure(of: { try store.get(Storage.Note.self, id: 0) })) == .storeFull)
                    #expect(code(failure(of: { try store.fetch(FetchDescriptor<Storage.Note>()) })) == .storeFull)
                    #expect(code(failure(of: { try store.count(FetchDescriptor<Storage.Note>()) })) == .storeFull)
                    #expect(code(failure(of: { try store.read { try $0.sequence() } })) == .storeFull)
                }
            }
            #expect(code(error) == .storeFull)
            #expect(try store.count(FetchDescriptor<Storage.Note>()) == 0)
            try store.close()
        }
    }

    /// What was read inside a write that is given up did not happen, and is not remembered.
    @Test func afterAnAbandonedWriteNothingOfItIsSeen() throws {
        try withTwo { (first, second) throws in
            let error = failure {
                try first.write { tx in
                    try change(tx)
                    try verifyChanged(first)
                    throw Mine()
                }
            }
            #expect(error is Mine)
            for store in [first, second] {
                #expect(try store.get(Storage.Note.self, ids: [1, 2, 3, 4]).map(\.text) == ["old", "old", "old"])
                #expect(try store.ids(FetchDescriptor<Storage.Note>(sortBy: [SortDescriptor(\.text)])) == [1, 2, 3])
            }
        }
    }

    /// A subscription that begins inside a write must not take the write's snapshot for a commit.
    @Test func commitsBegunInsideAWriteAreNotMissed() async throws {
        func begin(_ store: Store) throws -> Commits.Iterator {
            try store.write { tx in
                try tx.insert(Storage.Note(id: 1, text: "a"))
                return store.commits().makeAsyncIterator()
            }
        }
        try await Store.withTemporary(Storage.Note.self) { store in
            var commits = try begin(store)
            #expect(await commits.next()?.sequence == 1)
            try await store.write { tx in try tx.insert(Storage.Note(id: 2, text: "b")) }
            #expect(await commits.next()?.sequence == 2)
        }
    }
}
