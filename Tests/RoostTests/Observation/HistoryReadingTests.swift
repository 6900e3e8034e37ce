// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

@Suite struct HistoryReadingTests {
    private func insert(_ ids: ClosedRange<Int>, in store: Store) throws {
        for id in ids { try store.write { tx in try tx.insert(Storage.Note(id: id, text: "a")) } }
    }

    @Test func theCommitsAfterATokenAreReadInOrderAPageAfterTheOther() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            let start = try store.token()
            #expect(start.sequence == 0)
            #expect(try store.history(since: start).isEmpty)
            try insert(1...5, in: store)
            let (middle, count) = try store.read { tx in (try tx.token(), try tx.count(FetchDescriptor<Storage.Note>()))
            }
            #expect(middle.sequence == 5 && count == 5)
            try store.write { tx in
                try tx.update(Storage.Note.self, id: 1) { $0.text = "b" }
                try tx.delete(Storage.Note.self, id: 2)
            }
            let commit = try #require(try store.history(since: middle).first)
            #expect(commit.token == (try store.token()))
            #expect(commit.time == (try store.historyEntry(6))?.time)
            let changes = try #require(try commit.changes(of: Storage.Note.self))
            #expect(changes.updatedFields == [1: ["text"]] && changes.deleted == [2] && changes.inserted.isEmpty)

            var token = start
            var sequences: [[UInt64]] = []
            while case let page = try store.history(since: token, limit: 4), let last = page.last?.token {
                sequences.append(page.map(\.sequence))
                token = last
            }
            #expect(sequences == [[1, 2, 3, 4], [5, 6]])
            #expect(try store.history(since: start, limit: 0).isEmpty)
            #expect(try store.history(since: start, limit: -1).isEmpty)
        }
    }

    @Test func aTokenIsKeptAsAShortText() throws {
        let token = HistoryToken(storeID: UUID(), sequence: .max, nonce: .max)
        #expect(HistoryToken("\(token)") == token)
        #expect(try JSONDecoder().decode(HistoryToken.self, from: JSONEncoder().encode(token)) == token)
        for text in ["", ":", "::", "\(token):", "x\(token)", "\(token.storeID):-1:0", "\(token.storeID):1:g"] {
            #expect(HistoryToken(text) == nil, "\(text)")
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(HistoryToken.self, from: Data("\"a\"".utf8)) }
    }

    @Test func aTokenWhoseCommitWasDroppedIsTooOldUnlessItIsTheNewest() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            let start = try store.token()
            try insert(1...1, in: store)
            let first = try store.token()
            try insert(2...3, in: store)
            let last = try store.token()
            try store.engine.environment.write { transaction in
                for sequence in UInt64(1)...3 {
                    _ = try History.withKey(sequence) { try transaction.delete(store.engine.history.database, key: $0) }
                }
            }
            #expect(code(failure { try store.history(since: start) }) == .historyExpired)
            #expect(code(failure { try store.history(since: first) }) == .historyExpired)
            #expect(try store.history(since: last).isEmpty)
        }
    }

    @Test func aTokenOfAnotherStoreOrAnotherPastIsForeign() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            try insert(1...2, in: store)
            let token = try store.token()
            try insert(3...3, in: store)
            let id = token.storeID
            for foreign in [
                HistoryToken(storeID: UUID(), sequence: 2, nonce: token.nonce),
                HistoryToken(storeID: id, sequence: 2, nonce: token.nonce &+ 1),
                HistoryToken(storeID: id, sequence: 3, nonce: token.nonce),
                HistoryToken(storeID: id, sequence: 4, nonce: token.nonce),
                HistoryToken(storeID: id, sequence: .max, nonce: 0),
                HistoryToken(storeID: id, sequence: 0, nonce: 1),
            ] {
                #expect(code(failure { try store.history(since: foreign) }) == .historyForeign, "\(foreign)")
            }
        }
    }

    @Test func aDamagedOrMissingEntryIsAnErrorThatNamesItsCommit() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            try insert(1...3, in: store)
            let start = HistoryToken(storeID: store.engine.header.storeID, sequence: 0, nonce: 0)
            let database = store.engine.history.database
            try store.engine.environment.write { transaction in
                _ = try History.withKey(2) { try transaction.delete(database, key: $0) }
            }
            var error = failure { try store.history(since: start) }
            #expect(code(error) == .damaged && "\(error as Any)".contains("commit 2"))
            try store.engine.environment.write { transaction in
                _ = try History.withKey(2) { key in
                    try [UInt8(9)].withUnsafeBytes { try transaction.put(database, key: key, value: $0) }
                }
            }
            error = failure { try store.history(since: start) }
            #expect(code(error) == .damaged && "\(error as Any)".contains("commit 2"))
        }
    }

    private func open(_ place: TemporaryPlace) throws -> Store {
        try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Storage.Note.self)
    }

    @Test func commitsSinceATokenGoOnWithThoseThatCome() async throws {
        let place = TemporaryPlace()
        let store = try open(place)
        try insert(1...3, in: store)
        let (token, count) = try await store.read { tx in
            (try tx.token(), try tx.count(FetchDescriptor<Storage.Note>()))
        }
        #expect(count == 3)
        try insert(4...5, in: store)
        var commits = store.commits(since: token).makeAsyncIterator()
        // One that is in the history and comes as well.
        try insert(6...6, in: store)
        for id in 4...6 {
            let commit = try #require(try await commits.next())
            #expect(try commit.changes(of: Storage.Note.self)?.inserted == [id])
        }
        let next = Task { [commits] in
            var commits = commits
            return try await commits.next()?.sequence
        }
        try insert(7...7, in: store)
        #expect(try await next.value == 7)
        try store.close()
        #expect(try await commits.next()?.sequence == nil)
    }

    /// `commits()` gives the oldest of them as one.
    @Test func slowConsumerOfCommitsSinceATokenGetsEachOfThem() async throws {
        let place = TemporaryPlace()
        let store = try open(place)
        var commits = store.commits(since: try await store.token()).makeAsyncIterator()
        try insert(1...1, in: store)
        #expect(try await commits.next()?.sequence == 1)
        let many = Commits.bufferLimit + 500
        try insert(2...many, in: store)
        var sequences: [UInt64] = []
        while sequences.last ?? 0 < UInt64(many), let commit = try await commits.next() {
            #expect(commit.firstSequence == commit.sequence)
            sequences.append(commit.sequence)
        }
        #expect(sequences == Array(2...UInt64(many)))
    }

    @Test func commitsSinceATokenOfAnotherStoreAreAnError() async throws {
        let (place, other) = (TemporaryPlace(), TemporaryPlace())
        let (store, foreign) = (try open(place), try open(other))
        try insert(1...2, in: foreign)
        var commits = store.commits(since: try await foreign.token()).makeAsyncIterator()
        let error = await #expect(throws: StoreError.self) { try await commits.next() }
        #expect(error?.code == .historyForeign)
        #expect(try await commits.next()?.sequence == nil)
    }
}
