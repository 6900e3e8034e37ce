// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// A field of every kind.
@Entity struct Specimen {
    var id: Int
    var name: String
    var note: String?
    var flag: Bool
    var small: Int8
    var large: UInt64
    var ratio: Float
    var score: Double?
    var made: Date
    var key: UUID
    var blob: Data
    var tags: [String]
    var marks: [Int?]
    var keeper: Ref<Keeper>

    static let indexes: [Index<Specimen>] = [
        Index(\.name), Index(\.score), Index(\.keeper, \.small), Index(each: \.tags),
    ]
}

@Entity struct Keeper: Codable {
    var id: String
    var name: String
}

/// A store of specimens 1 to 4 and two keepers in a folder of its own, closed.
struct SpecimenStore {
    let url: URL
    var path: String { url.path }

    static let keys = (1...4).map { UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5\($0)") ?? UUID() }
    /// 2024-05-31T18:30:00Z.
    static let day = 738_873_000.0

    static let specimens: [Specimen] = [
        Specimen(
            id: 1, name: "beetle", note: nil, flag: true, small: -128, large: .max, ratio: 0.1, score: 1.5,
            made: Date(timeIntervalSinceReferenceDate: day), key: keys[0], blob: Data([0xDE, 0xAD]),
            tags: ["red", "old"],
            marks: [1, nil], keeper: Ref("ann")),
        Specimen(
            id: 2, name: "bee", note: "a \"quoted\"\nnote", flag: false, small: 0, large: 0, ratio: -.infinity,
            score: .nan, made: Date(timeIntervalSinceReferenceDate: day + 0.1), key: keys[1], blob: Data(), tags: [],
            marks: [], keeper: Ref("bob")),
        // E and a combining acute accent: its own spelling is not the NFC form.
        Specimen(
            id: 3, name: "E\u{301}phe\u{301}me\u{300}re", note: "null", flag: true, small: 127,
            large: 9_007_199_254_740_993, ratio: 2, score: nil, made: Date(timeIntervalSinceReferenceDate: -0.25),
            key: keys[2], blob: Data([0]), tags: ["red"], marks: [2], keeper: Ref("ann")),
        Specimen(
            id: 4, name: "ant", note: "x=y", flag: false, small: 5, large: 7, ratio: 3.25, score: .infinity,
            made: Date(timeIntervalSinceReferenceDate: day - 86_400), key: keys[3], blob: Data([1, 2, 3]),
            tags: ["new", "null"], marks: [nil], keeper: Ref("ann")),
    ]

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("specimens-\(UUID().uuidString).roost")
        let store = try Store.open(at: url, entities: Specimen.self, Keeper.self)
        try store.write { tx in
            for specimen in Self.specimens { try tx.insert(specimen) }
            try tx.insert(Keeper(id: "ann", name: "Ann"))
            try tx.insert(Keeper(id: "bob", name: "Bob"))
        }
        try store.close()
    }

    func remove() { try? FileManager.default.removeItem(at: url) }

    /// The IDs that a query prints as JSON, in its order.
    func ids(_ arguments: String...) async throws -> [Int] {
        let run = try await Tool.run(["query", path, "Specimen", "--json"] + arguments)
        guard run.status == 0, run.errors.isEmpty else { throw Tool.Failure("\(run.status): \(run.errors)") }
        let rows = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]]
        return rows?.compactMap { $0["id"] as? Int } ?? []
    }
}
