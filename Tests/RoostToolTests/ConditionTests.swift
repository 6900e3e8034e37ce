// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

@Suite struct ConditionTests {
    /// Each operator on each kind of field; the IDs in ascending order.
    static let cases: [(condition: String, ids: [Int])] = [
        ("id=2", [2]), ("id!=2", [1, 3, 4]), ("id<2", [1]), ("id<=2", [1, 2]), ("id>3", [4]), ("id>=3", [3, 4]),
        ("name=bee", [2]), ("name!=bee", [1, 3, 4]), ("name^=bee", [1, 2]), ("name<b", [4]),
        ("name>=beetle", [1, 3]), ("name=\u{C9}ph\u{E9}m\u{E8}re", [3]), ("name^=\u{C9}", [3]), ("name^=E", []),
        ("note=null", [1]), ("note!=null", [2, 3, 4]), ("note=x=y", [4]), ("note=a \"quoted\"\nnote", [2]),
        ("note^=", [2, 3, 4]), ("note!=x=y", [1, 2, 3]),
        ("flag=true", [1, 3]), ("flag!=true", [2, 4]), ("flag<true", [2, 4]),
        ("small=-128", [1]), ("small>5", [3]), ("small<=0", [1, 2]),
        ("large=18446744073709551615", [1]), ("large>9007199254740992", [1, 3]), ("large<1", [2]),
        ("ratio=0.1", [1]), ("ratio=-inf", [2]), ("ratio<=2", [1, 2, 3]), ("ratio>0.1", [3, 4]),
        ("score=1.5", [1]), ("score=inf", [4]), ("score>1", [1, 4]), ("score<=inf", [1, 4]), ("score=null", [3]),
        ("score=nan", []), ("score!=nan", [1, 2, 3, 4]), ("score<nan", []), ("score!=1.5", [2, 3, 4]),
        ("made=2024-05-31T18:30:00Z", [1]), ("made=2024-05-31T20:30:00+02:00", [1]), ("made>2024-05-31", [1, 2]),
        ("made=2024-05-31T18:30:00.1Z", [2]), ("made=2000-12-31T23:59:59.75Z", [3]), ("made<2001-01-01", [3]),
        ("made<=2024-05-30 18:30", [3, 4]),
        ("key=e621e1f8-c36c-495a-93fc-0c247a3e6e52", [2]), ("key>E621E1F8-C36C-495A-93FC-0C247A3E6E53", [4]),
        ("blob=dead", [1]), ("blob=DEAD", [1]), ("blob=", [2]), ("blob>=01", [1, 4]), ("blob!=00", [1, 2, 4]),
        ("tags=red", [1, 3]), ("tags!=red", [2, 4]), ("tags=null", [4]), ("tags=", []),
        ("marks=1", [1]), ("marks=null", [1, 4]), ("marks!=null", [2, 3]), ("marks!=2", [1, 2, 4]),
        ("keeper=ann", [1, 3, 4]), ("keeper!=ann", [2]),
    ]

    @Test func everyOperatorOnEveryType() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        for (condition, ids) in Self.cases {
            let found = try await store.ids("--where", condition)
            #expect(found == ids, "\(condition)")
        }
    }

    @Test func conditionsAreJoinedByAnd() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        #expect(try await store.ids("--where", "keeper=ann", "--where=small>0") == [3, 4])
        #expect(try await store.ids("--where", "id=1", "--where", "id=2") == [])
        #expect(try await store.ids("--where", "name>=b", "--where", "name<bf", "--where", "flag=false") == [2])
    }

    @Test func aTextIDIsFoundByItsKey() async throws {
        let specimens = try SpecimenStore()
        defer { specimens.remove() }
        // With fewer objects a scan would be cheaper.
        let store = try await Store.open(at: specimens.url, entities: Keeper.self)
        try await store.write { tx in
            for number in 100..<200 { try tx.insert(Keeper(id: "k\(number)", name: "")) }
        }
        try store.close()
        let run = try await Tool.run("query", specimens.path, "Keeper", "--where", "id=bob", "--json", "--explain")
        #expect(run.output == "[\n{\"id\":\"bob\",\"name\":\"Bob\"}\n]\n")
        #expect(run.errors.hasPrefix("lookup of 1 ID in Keeper\n"))
    }
}
