// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

/// Another process adds an entity to a store that is open here.
@Suite struct SchemaRegistryTests {
    private func addNotes(_ path: String, _ texts: [String]) throws {
        let helper = try HelperProcess(["add", path])
        #expect(helper.line() == "ready")
        for text in texts {
            helper.send(text)
            #expect(helper.line() == "done")
        }
        #expect(helper.finish() == 0)
    }

    /// It used to throw `readOnly`: the catalog as first read did not have the entity, which would have been added.
    @Test func readOnlyStoreIsOpenedWithAnEntityThatAnotherProcessAdded() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            try Store.open(path, Storage.Label.self).close()
            let options = Store.Options(durability: .unsafe, isReadOnly: true)
            let labels = try Store.open(path, options: options, Storage.Label.self)
            #expect(try labels.all(Storage.Label.self).isEmpty)
            #expect(code(failure(of: { try Store.open(path, options: options, Storage.Note.self) })) == .readOnly)
            try addNotes(path, ["one", "two"])
            let notes = try Store.open(path, options: options, Storage.Note.self)
            #expect(try notes.all(Storage.Note.self).map(\.text) == ["one", "two"])
            let byText = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text == "two" })
            #expect(try notes.ids(byText) == [2])
            try notes.close()
            try labels.close()
        }
    }

    /// Only the generation used to be noted, and the catalog stayed what it was. A read needs nothing of what was added.
    @Test(arguments: [false, true]) func whatAnotherProcessAddedIsKnownAfterTheNextWrite(isWrite: Bool) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(path, Storage.Label.self)
            let state = try store.state("Label")
            try addNotes(path, ["one"])
            #expect(store.engine.schema.catalog.entity(named: "Note") == nil)
            if isWrite {
                try store.write { tx in try tx.insert(Storage.Label(id: "x", rank: nil)) }
            } else {
                _ = try store.all(Storage.Label.self)
                #expect(store.engine.schema.catalog.entity(named: "Note") == nil)
                try store.engine.schema.refresh()
            }
            #expect(store.engine.schema.catalog.entities.map(\.name) == ["Label", "Note"])
            #expect(try store.state("Label") === state)
            let note = try store.state("Note")
            let entries = try store.engine.environment.read { try $0.statistics(of: note.records).entries }
            #expect(entries == 1)
            let before = try store.engine.environment.read { try store.engine.main.generation(in: $0) }
            let both = try Store.open(path, Storage.Note.self, Storage.Label.self)
            #expect(try both.all(Storage.Note.self).map(\.text) == ["one"])
            try both.write { tx in try tx.insert(Storage.Note(id: 9, text: "nine")) }
            #expect(try store.engine.environment.read { try store.engine.main.generation(in: $0) } == before)
            try both.close()
            try store.close()
        }
    }

    /// Readers, writers and openers find it out at the same moment.
    @Test func itIsFoundOutByManyThreadsAtOnce() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(path, Storage.Label.self)
            try addNotes(path, ["one"])
            try onThreads(12) { thread in
                switch thread % 3 {
                case 0: _ = try store.all(Storage.Label.self)
                case 1: try store.write { tx in try tx.insert(Storage.Label(id: "\(thread)", rank: nil)) }
                default:
                    let other = try Store.open(path, Storage.Note.self, Storage.Everything.self)
                    #expect(try other.all(Storage.Note.self).map(\.text) == ["one"])
                    try other.close()
                }
            }
            #expect(store.engine.schema.catalog.entities.map(\.name) == ["Label", "Note", "Everything"])
            #expect(try store.count(FetchDescriptor<Storage.Label>()) == 4)
            try store.close()
        }
    }
}
