// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

/// A later version's store that may be read, but not written.
@Suite struct NewerFeaturesTests {
    private static let readOnly = Store.Options(durability: .unsafe, isReadOnly: true)

    private func setFeatures(_ features: UInt32, _ store: Store) throws {
        var header = store.engine.header
        header.readOnlyCompatibleFeatures = features
        let main = store.engine.main
        try store.engine.environment.write { transaction in
            try main.put(.header, header.bytes, in: transaction)
            try main.setCount(.generation, try main.generation(in: transaction) + 1, in: transaction)
        }
    }

    @Test(arguments: 0..<32) func unknownReadOnlyCompatibleFeatureWasIgnoredOnWriting(bit: UInt32) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(path, Storage.Note.self)
            try store.write { tx in try tx.insert(Storage.Note(id: 1, text: "a")) }
            try setFeatures(1 << bit, store)
            try store.close()
            let before = try contents(of: folder)
            for entities in [[], [Storage.Note.self], [Storage.Label.self]] as [[any Entity.Type]] {
                let url = URL(fileURLWithPath: path)
                let error = failure(of: { try Store.open(at: url, options: Store.fast, entities: entities) })
                #expect(code(error) == .newerFormat)
                #expect("\(error as Any)".contains("(features \(1 << bit)): open it with Options(isReadOnly: true)"))
            }
            #expect(try contents(of: folder) == before)

            let reader = try Store.open(path, options: Self.readOnly, Storage.Note.self)
            #expect(try reader.all(Storage.Note.self) == [Storage.Note(id: 1, text: "a")])
            #expect(code(failure(of: { try reader.write { _ in } })) == .readOnly)
            try reader.close()
            // What the tool reads it with.
            let inspector = try StoreInspector(path: path)
            #expect(try inspector.summary().entities.map(\.name) == ["Note"])
        }
    }

    /// The header was read once, when the store was opened.
    @Test func featureThatIsSetWhileTheStoreIsOpenWasNotNoticed() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(path, Storage.Note.self)
            try store.write { tx in try tx.insert(Storage.Note(id: 1, text: "a")) }
            try setFeatures(4, store)
            for _ in 0..<2 {
                let error = failure(of: { try store.write { tx in try tx.insert(Storage.Note(id: 2, text: "b")) } })
                #expect(code(error) == .newerFormat)
            }
            try store.close()
            let reader = try Store.open(path, options: Self.readOnly, Storage.Note.self)
            #expect(try reader.all(Storage.Note.self).map(\.id) == [1])
            try reader.close()
        }
    }
}
