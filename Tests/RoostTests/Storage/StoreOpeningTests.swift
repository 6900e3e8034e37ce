// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostLMDB
import RoostTestSupport
import Testing

@Suite struct StoreOpeningTests {
    // Hazard 1
    @Test func aliasesShareOneEngine() throws {
        try withTemporaryFolder { folder in
            let first = try Store.open(folder + "/S.roost", Storage.Note.self)
            try FileManager.default.createSymbolicLink(atPath: folder + "/L", withDestinationPath: folder + "/S.roost")
            for alias in ["/S.roost/", "/L", "/./S.roost/../L", "/S.roost/."] {
                let again = try Store.open(folder + alias, Storage.Note.self)
                #expect(again.engine === first.engine)
                try again.close()
            }
            try first.write { tx in try tx.insert(Storage.Note(id: 1, text: "a")) }
            try first.close()
        }
    }

    // Hazard 1
    @Test func hardLinkAndOtherOptionsAreTypedErrors() throws {
        try withTemporaryFolder { folder in
            let first = try Store.open(folder + "/S.roost", Storage.Note.self)
            let other = Store.Options(durability: .unsafe, readerLimit: 3)
            #expect(code(failure(of: { try Store.open(folder + "/S.roost", options: other) })) == .alreadyOpen)
            try FileManager.default.createDirectory(atPath: folder + "/T.roost", withIntermediateDirectories: true)
            try FileManager.default.linkItem(atPath: folder + "/S.roost/data.mdb", toPath: folder + "/T.roost/data.mdb")
            for name in ["/S.roost", "/T.roost"] {
                #expect(code(failure(of: { try Store.open(folder + name, Storage.Note.self) })) == .alreadyOpen)
            }
            try first.close()
        }
    }

    @Test func anOptionThatDiffersWasNotNamed() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let first = try Store.open(path, options: Store.Options(), Storage.Note.self)
            let others: [(Store.Options, String)] = [
                (.init(durability: .unsafe), "durability is .full there and .unsafe here"),
                (.init(maximumSize: 1 << 20), "maximumSize is nil there and 1048576 here"),
                (.init(isReadOnly: true), "isReadOnly is false there and true here"),
                (
                    .init(durability: .relaxed, readerLimit: 3),
                    "durability is .full there and .relaxed here, readerLimit is 32 there and 3 here"
                ),
            ]
            for (options, what) in others {
                let error = try #require(failure(of: { try Store.open(path, options: options) }) as? StoreError)
                #expect(
                    error.message
                        == "\(path) is open in this process with other options: \(what). Open it with the same ones.")
            }
            try first.close()
        }
    }

    // Hazard 1
    @Test func aHundredTasksRaceOpenAndClose() async throws {
        try await withTemporaryFolder { folder in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<100 {
                    group.addTask {
                        let url = URL(fileURLWithPath: folder + "/S.roost")
                        let store = try await Store.open(
                            at: url, options: Store.fast, entities: Storage.Note.self, Storage.Label.self)
                        try await store.write { tx in try tx.insert(Storage.Note(id: task, text: "t")) }
                        #expect(try await store.get(Storage.Note.self, id: task) != nil)
                        try store.close()
                    }
                }
                try await group.waitForAll()
            }
            let store = try Store.open(folder + "/S.roost", Storage.Note.self)
            #expect(try await store.count(FetchDescriptor<Storage.Note>()) == 100)
            #expect(try store.lastSequence() == 100)
            try store.close()
        }
    }

    // Hazard 8
    @Test(.disabled(if: isSanitized)) func aLimitedProcessOpensTheStore() throws {
        try withTemporaryFolder { folder in
            let store = try Store.open(folder + "/S.roost", options: Store.Options(), Storage.Note.self)
            try store.write { tx in try tx.insert(Storage.Note(id: 1, text: "a")) }
            let helper = try HelperProcess(["open", folder + "/S.roost"], addressSpace: 4 << 20)
            #expect(helper.line() == "notes 1")
            #expect(helper.finish() == 0)
            try store.close()
        }
    }

    // Hazard 15
    @Test func entitiesAreFirstUsedInParallel() throws {
        try withTemporaryFolder { folder in
            try onThreads(12) { thread in
                let path = folder + "/S.roost"
                let store =
                    switch thread % 3 {
                    case 0: try Store.open(path, Storage.Note.self)
                    case 1: try Store.open(path, Storage.Label.self)
                    default: try Store.open(path, Storage.Label.self, Storage.Note.self)
                    }
                try store.write { tx in
                    if thread % 3 != 1 { try tx.insert(Storage.Note(id: thread, text: "\(thread)")) }
                    if thread % 3 != 0 { try tx.insert(Storage.Label(id: "\(thread)", rank: Double(thread))) }
                }
                try store.close()
            }
            let store = try Store.open(folder + "/S.roost", Storage.Note.self, Storage.Label.self)
            #expect(try store.all(Storage.Note.self).map(\.id) == [0, 2, 3, 5, 6, 8, 9, 11])
            #expect(try store.count(FetchDescriptor<Storage.Label>()) == 8)
            let byText = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text == "9" })
            #expect(try store.ids(byText) == [9])
            try store.close()
        }
    }

    // Hazard 15
    @Test func openingAfterAnAbortedOpening() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let first = try Store.open(path, Storage.Note.self)
            for _ in 0..<5 {
                let error = failure(of: { try Store.open(path, Storage.Label.self, OtherText.Note.self) })
                #expect(code(error) == .schemaMismatch)
            }
            #expect(first.engine.schema.catalog.entity(named: "Label") == nil)
            let second = try Store.open(path, Storage.Label.self, Storage.Note.self)
            try second.write { tx in
                try tx.insert(Storage.Label(id: "x", rank: 1))
                try tx.insert(Storage.Note(id: 1, text: "a"))
            }
            #expect(try first.get(Storage.Note.self, id: 1)?.text == "a")
            #expect(try second.get(Storage.Label.self, id: "x")?.rank == 1)
            try first.close()
            try second.close()
        }
    }

    // Hazard 15: an entity joins a store whose readers and writers are at work.
    @Test func anEntityIsAddedBesideRunningTransactions() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(path, Storage.Note.self)
            let joined = Signal()
            try onThreads(3) { thread in
                switch thread {
                case 0:
                    for id in 0..<200 { try store.write { tx in try tx.insert(Storage.Note(id: id, text: "t")) } }
                    joined.wait()
                case 1:
                    for _ in 0..<200 { _ = try store.all(Storage.Note.self) }
                    joined.wait()
                default:
                    let other = try Store.open(path, Storage.Label.self)
                    joined.send()
                    for id in 0..<50 { try other.write { tx in try tx.insert(Storage.Label(id: "\(id)", rank: nil)) } }
                    #expect(try other.all(Storage.Label.self).count == 50)
                    try other.close()
                }
            }
            #expect(try store.all(Storage.Note.self).count == 200)
            try store.close()
        }
    }

    enum OtherText {
        @Entity struct Note {
            var id: Int
            var text: Int
        }
    }
}
