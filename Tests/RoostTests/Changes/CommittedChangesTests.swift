// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import RoostTestSupport
import Testing

@testable import Roost

/// Commits as another process has them: from the history alone.
struct CommittedChangesTests {
    let place = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Town.self, Land.self)
        try store.write { tx in
            try tx.insert(contentsOf: [
                Town(id: 1, name: "Lyon", land: Ref("FR"), population: 500),
                Town(id: 2, name: "Berlin", land: Ref("DE"), population: 3_500),
            ])
        }
    }

    /// The last commits, as they were to somebody who did not make them.
    private func records(
        of sequences: ClosedRange<UInt64>, withImages: Bool = true,
        limits: CommittedChanges.Limits = .init(), origin: UInt64 = 0
    ) throws -> [CommitRecord] {
        let schema = store.engine.schema
        var changes = CommittedChanges(history: store.engine.history, origin: origin) { schema.entity($0) }
        changes.limits = limits
        return try store.engine.environment.read {
            try changes.records(of: sequences, withImages: withImages, in: $0)
        }
    }

    /// What a commit that does `body` means for a request, in another process.
    private func isChange(
        _ request: FetchDescriptor<Town>, _ body: (borrowing WriteTransaction) throws -> Void
    ) throws -> Bool {
        try store.write { tx in try body(tx) }
        let last = try store.lastSequence()
        let binding = try store.binding(of: Town.self)
        let filter = CommitFilter(entity: binding.entity, request: try LoweredRequest(request, binding))
        let record = try #require(try self.records(of: last...last).first)
        switch filter.effect(of: record) {
        case .none: return false
        case .change: return true
        case .unknown:
            Issue.record("unknown")
            return true
        }
    }

    @Test func theySayWhatChanged() throws {
        try store.write { tx in
            try tx.insert(Town(id: 3, name: "Nice", land: Ref("FR"), population: 300))
            _ = try tx.update(Town.self, id: 1) { $0.population = 1 }
            _ = try tx.delete(Town.self, id: 2)
        }
        let record = try #require(try self.records(of: 2...2).first)
        #expect(record.isForeign && record.sequences == 2...2)
        let changes = try #require(try Commit(record, store: store).changes(of: Town.self))
        #expect(changes.isComplete && changes.inserted == [3] && changes.updated == [1] && changes.deleted == [2])
        #expect(changes.updatedFields == [1: ["population"]])
        #expect(try Commit(record, store: store).changes(of: Land.self) == nil)
    }

    @Test func thoseOfThisProcessAreItsOwn() throws {
        #expect(try records(of: 1...1, origin: store.engine.origin).map(\.isForeign) == [false])
    }

    @Test func aRequestThatTheyDoNotConcernIsNotAffected() throws {
        let french = Town.inLand("FR")
        #expect(try isChange(french) { try $0.insert(Town(id: 4, name: "Nice", land: Ref("FR"), population: 3)) })
        #expect(try !isChange(french) { try $0.insert(Town(id: 5, name: "Bonn", land: Ref("DE"), population: 3)) })
        // A field that the predicate does not read: the object matched before if it does now.
        #expect(try isChange(french) { _ = try $0.update(Town.self, id: 1) { $0.population += 1 } })
        #expect(try !isChange(french) { _ = try $0.update(Town.self, id: 2) { $0.population += 1 } })
        // One that it reads: it may have matched before.
        #expect(try isChange(french) { _ = try $0.update(Town.self, id: 2) { $0.land = Ref("IT") } })
        #expect(try isChange(french) { _ = try $0.update(Town.self, id: 2) { $0.land = Ref("FR") } })
        #expect(try isChange(french) { _ = try $0.delete(Town.self, id: 5) })
        #expect(try !isChange(french) { try $0.insert(Land(id: "FR", name: "France")) })
    }

    /// An object that is gone when the commit is looked at may have matched in between.
    @Test func objectsThatAreGoneAlreadyCount() throws {
        try store.write { tx in try tx.insert(Town(id: 6, name: "Bonn", land: Ref("DE"), population: 3)) }
        let sequence = try store.lastSequence()
        try store.write { tx in _ = try tx.delete(Town.self, id: 6) }
        let binding = try store.binding(of: Town.self)
        let request = try LoweredRequest(Town.inLand("FR"), binding)
        let record = try #require(try self.records(of: sequence...sequence).first)
        guard case .change = CommitFilter(entity: binding.entity, request: request).effect(of: record) else {
            Issue.record("an object that nobody can look at")
            return
        }
    }

    @Test func whatTheHistoryDoesNotHoldMayHaveChangedAnything() throws {
        let records = try self.records(of: 1...3)
        #expect(records.map { $0.changes == nil } == [false, true, true])
    }

    @Test func tooManyAreNotReadOneByOne() throws {
        for number in 0..<20 { try store.write { tx in try tx.insert(Land(id: "\(number)", name: "n")) } }
        func tell(_ limits: CommittedChanges.Limits) throws -> [Bool] {
            try self.records(of: 2...21, limits: limits).map { $0.changes == nil }
        }
        #expect(try tell(.init(commits: 19)) == [true])
        #expect(try tell(.init(bytes: 100)) == [true])
        #expect(try tell(.init()) == Array(repeating: false, count: 20))
        // Without room for the records, what changed is known all the same.
        let records = try self.records(of: 2...21, limits: .init(imageBytes: 0))
        #expect(records.allSatisfy { $0.changes?.first?.images == nil && $0.changes?.first?.rows.count == 1 })
    }
}
