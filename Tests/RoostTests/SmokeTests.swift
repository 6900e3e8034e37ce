// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

@Entity struct Town {
    var id: Int
    var name: String
    var country: Ref<Land>
    var population: Int?
    var alternateNames: [String]
    static let indexes: [Index<Town>] = [Index(\.country, \.population), Index(\.name), Index(each: \.alternateNames)]
}
@Entity struct Land { var id: String; var name: String }

@Test func smoke() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("t-\(UUID()).roost")
    defer { try? FileManager.default.removeItem(at: url) }
    let store = try Store.open(at: url, entities: Town.self, Land.self)
    try store.write { tx in
        try tx.insert(Land(id: "FR", name: "France"))
        for i in 0..<100 { try tx.insert(Town(id: i, name: "t\(i % 10)", country: Ref(i % 2 == 0 ? "FR" : "DE"), population: i % 7 == 0 ? nil : i, alternateNames: ["a\(i % 3)", "b"])) }
    }
    print(try store.get(Land.self, id: "FR") as Any, try store.get(Town.self, id: 7) as Any)
    var r = FetchDescriptor<Town>(predicate: #Predicate { $0.country.id == "FR" && $0.alternateNames.contains("a1") }, sortBy: [SortDescriptor(\.population, order: .reverse)])
    r.fetchLimit = 3
    print(try store.fetch(r).map(\.id)); print(try store.explain(r))
    var r2 = FetchDescriptor<Town>(predicate: #Predicate { $0.country.id == "FR" }, sortBy: [SortDescriptor(\.population, order: .reverse)])
    r2.fetchLimit = 3
    print(try store.fetch(r2).map(\.id)); print(try store.explain(r2))
    print(try store.explain(FetchDescriptor<Town>(predicate: #Predicate { [1,2,3].contains($0.id) })))
    print(try store.explain(FetchDescriptor<Town>(predicate: #Predicate { $0.name.starts(with: "t3") }, sortBy: [SortDescriptor(\.name)])))
    try store.close()
    #expect(throws: StoreError.self) { try store.get(Land.self, id: "FR") }
}
