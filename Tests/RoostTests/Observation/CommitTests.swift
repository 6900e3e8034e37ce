// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

struct CommitTests {
    let place = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Town.self, Land.self)
    }

    private func town(_ id: Int, _ name: String = "n") -> Town {
        Town(id: id, name: name, land: Ref("FR"), population: id)
    }

    @Test func commitsCarryWhatChanged() async throws {
        try store.writeTowns((1...3).map { town($0) })
        var commits = store.commits().makeAsyncIterator()
        try await store.write { [self] tx in
            try tx.insert(town(4))
            try tx.update(Town.self, id: 1) {
                $0.name = "x"
                $0.population = 9
            }
            try tx.delete(Town.self, id: 2)
            try tx.insert(Land(id: "FR", name: "France"))
        }
        let commit = try #require(await commits.next())
        #expect(commit.origin == .thisProcess)
        let towns = try #require(try commit.changes(of: Town.self))
        #expect(towns.inserted == [4] && towns.updated == [1] && towns.deleted == [2] && towns.isComplete)
        #expect(towns.updatedFields == [1: ["name", "population"]])
        #expect(try commit.changes(of: Land.self)?.inserted == ["FR"])
    }

    @Test func sequencesAscendByOneInCommitOrder() async throws {
        var commits = store.commits().makeAsyncIterator()
        await withTaskGroup(of: Void.self) { group in
            for id in 1...50 {
                group.addTask { [self] in try? await store.write { tx in try tx.insert(town(id)) } }
            }
        }
        var sequences: [UInt64] = []
        var ids: Set<Int> = []
        for _ in 1...50 {
            let commit = try #require(await commits.next())
            sequences.append(commit.sequence)
            ids.formUnion(try commit.changes(of: Town.self)?.inserted ?? [])
        }
        let first = try #require(sequences.first)
        #expect(sequences == Array(first..<(first + 50)))
        #expect(ids == Set(1...50))
    }

    @Test func netChangeOfATransactionIsReported() async throws {
        try store.writeTowns([town(1)])
        var commits = store.commits().makeAsyncIterator()
        // Inserted and deleted again, changed and changed back: no commit at all.
        try await store.write { [self] tx in
            try tx.insert(town(5))
            try tx.delete(Town.self, id: 5)
            try tx.update(Town.self, id: 1) { $0.name = "other" }
            try tx.update(Town.self, id: 1) { $0.name = "n" }
        }
        // Deleted and inserted with another value: an update.
        try await store.write { [self] tx in
            try tx.delete(Town.self, id: 1)
            try tx.insert(town(1, "again"))
        }
        let commit = try #require(await commits.next())
        let changes = try #require(try commit.changes(of: Town.self))
        #expect(changes.updated == [1] && changes.inserted.isEmpty && changes.deleted.isEmpty)
        #expect(changes.updatedFields == [1: ["name"]])
    }

    @Test func failedWriteIsNotPublished() async throws {
        struct Stop: Error {}
        var commits = store.commits().makeAsyncIterator()
        #expect(throws: Stop.self) {
            try store.writeSynchronously { tx in
                try tx.insert(town(1))
                throw Stop()
            }
        }
        try store.writeTowns([town(2)])
        #expect(try await commits.next()?.changes(of: Town.self)?.inserted == [2])
    }

    @Test func commitsThatASlowConsumerMissedAreMergedWithTheirChanges() async throws {
        var commits = store.commits().makeAsyncIterator()
        for id in 1...(Commits.bufferLimit + 2) { try store.writeTowns([town(id)]) }
        store.engine.bus.drain()
        let merged = try #require(await commits.next())
        let changes = try #require(try merged.changes(of: Town.self))
        #expect(changes.isComplete && changes.inserted == [1, 2])
        #expect(merged.firstSequence == 1 && merged.sequence == 2)
        for id in 3...(Commits.bufferLimit + 2) {
            let commit = try #require(await commits.next())
            #expect(commit.firstSequence == UInt64(id) && commit.sequence == UInt64(id))
            #expect(try commit.changes(of: Town.self)?.inserted == [id])
        }
    }

    /// What waited for the consumer used to be dropped.
    @Test func commitsThatWaitAreDeliveredAfterClosing() async throws {
        var commits = store.commits().makeAsyncIterator()
        for id in 1...20 { try store.writeTowns([town(id)]) }
        try store.close()
        var ids: [Int] = []
        while let commit = await commits.next() { ids += try commit.changes(of: Town.self)?.inserted ?? [] }
        #expect(ids == Array(1...20))
    }

    @Test func cancellationEndsTheSequenceAtOnce() async throws {
        var commits = store.commits().makeAsyncIterator()
        for id in 1...20 { try store.writeTowns([town(id)]) }
        #expect(await commits.next()?.sequence == 1)
        let rest = Task { [commits] in
            var commits = commits
            while await commits.next() != nil {}
        }
        rest.cancel()
        await rest.value
        // What the cancelled task did not take is still there for this one.
        #expect(await (commits.next()?.sequence ?? 0) > 1)
    }

    /// One of two that waited at once was never resumed.
    @Test func copiesOfAnIteratorShareWhatComes() async throws {
        let commits = store.commits().makeAsyncIterator()
        let waiting = (0..<5).map { _ in
            Task { [commits] in
                var commits = commits
                return await commits.next()?.sequence
            }
        }
        for id in 1...5 { try store.writeTowns([town(id)]) }
        var sequences: Set<UInt64> = []
        for task in waiting { sequences.insert(try #require(await task.value)) }
        #expect(sequences == [1, 2, 3, 4, 5])
    }

    /// Cancelling one task ended the iteration for all who share it, and dropped what waited.
    @Test func cancellingOneOfThoseWhoShareAnIterationLeavesTheOthersEverything() async throws {
        let commits = store.commits().makeAsyncIterator()
        let cancelled = Task { [commits] in
            var commits = commits
            return await commits.next()?.sequence
        }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        for id in 1...3 { try store.writeTowns([town(id)]) }
        var others = commits
        for sequence in 1...3 { #expect(await others.next()?.sequence == UInt64(sequence)) }
    }

    @Test func bulkChangeBeyondTheLimitIsIncomplete() async throws {
        var commits = store.commits().makeAsyncIterator()
        try store.writeTowns((1...(ChangeRecorder.limit + 1)).map { town($0) })
        let commit = try #require(await commits.next())
        let changes = try #require(try commit.changes(of: Town.self))
        #expect(!changes.isComplete && changes.inserted.isEmpty)
    }

    @Test func closingEndsTheSequence() async throws {
        let iterator = store.commits().makeAsyncIterator()
        let following = Task { [iterator] in
            var iterator = iterator
            return await iterator.next() == nil
        }
        try store.close()
        #expect(await following.value)
        var late = store.commits().makeAsyncIterator()
        #expect(await late.next() == nil)
    }
}

extension Store {
    /// The synchronous form, also from asynchronous tests.
    func writeSynchronously(_ body: (borrowing WriteTransaction) throws -> Void) throws { try write(body) }
    func writeTowns(_ towns: [Town]) throws { try write { tx in try tx.insert(contentsOf: towns) } }
}
