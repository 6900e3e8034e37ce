// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// The entity of the live oracle, as the tests declare it.
@Entity struct Fruit: Codable {
    var id: Int
    var country: String?
    var amount: Int
    var weight: Double
    var ratio: Double?
    var rank: Int16?
    var name: String

    static let indexes: [Index<Fruit>] = [Index(\.amount), Index(\.country, \.amount), Index(\.weight)]
}

/// What one commit is to do.
struct FruitOrder: Codable {
    var put: [Fruit]
    var delete: [Int]

    /// Carries out one order a line, each as a commit, and prints `done`.
    static func serve(_ path: String) throws {
        let store = try Store.open(at: URL(fileURLWithPath: path), entities: Fruit.self)
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        print("ready")
        fflush(nil)
        while let line = readLine() {
            let order = try decoder.decode(FruitOrder.self, from: Data(line.utf8))
            try store.write { tx in
                for id in order.delete { try tx.delete(Fruit.self, id: id) }
                for fruit in order.put { try tx.upsert(fruit) }
            }
            print("done")
            fflush(nil)
        }
        try store.close()
    }
}
