// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

enum Declared {
    @Entity struct Computed {
        var id: Int
        var name: String
        var size: Int { name.count }
        static let indexes: [Index<Computed>] = [Index(\.size)]
    }

    @Entity struct Part {
        var id: Int
        var name: String
        static let indexes: [Index<Part>] = [Index(\.name.count)]
    }

    @Entity struct EachComputed {
        var id: Int
        var names: [String]
        var sorted: [String] { names.sorted() }
        static let indexes: [Index<EachComputed>] = [Index(each: \.sorted)]
    }
}

@Suite struct IndexDeclarationTests {
    @Test func anIndexOfAComputedPropertyWasNamedByItsAddress() throws {
        let cases: [(entity: any Entity.Type, type: String, fields: String)] = [
            (Declared.Computed.self, "Int", "id, name"), (Declared.Part.self, "Int", "id, name"),
            (Declared.EachComputed.self, "Array<String>", "id, names"),
        ]
        for (entity, type, fields) in cases {
            let error = try #require(failure(of: { try DeclaredEntity(entity) }) as? StoreError)
            #expect(error.code == .invalidSchema)
            #expect(error.message.contains("of type \(type), that is not one of its fields: \(fields)."), "\(error)")
            #expect(!error.message.contains("0x"), "\(error)")
        }
    }
}
