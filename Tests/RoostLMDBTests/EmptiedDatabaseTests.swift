// SPDX-License-Identifier: Apache-2.0

import RoostLMDB
import RoostTestSupport
import Testing

/// A database whose only entry is deleted keeps it in the file until it must go: nobody may notice, except that the file
/// does not grow.
@Suite struct EmptiedDatabaseTests {
    @Test func randomOperationsOnTwoKeysAgreeWithADictionary() throws {
        var random = SeededGenerator()
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let databases = try environment.databases("1", "2")
                var committed: [[String: String]] = [[:], [:]]
                for round in 0..<repetitions(60, thorough: 2_000) {
                    var model = committed
                    let isKept = Int.random(in: 0..<4, using: &random) > 0
                    try? environment.write { transaction in
                        for step in 0..<30 {
                            let number = Int.random(in: 0..<2, using: &random)
                            let database = databases[number]
                            let key = Bool.random(using: &random) ? "a" : "b"
                            switch Int.random(in: 0..<12, using: &random) {
                            case 0...2:
                                try transaction.put(database, key, "\(round) \(step)")
                                model[number][key] = "\(round) \(step)"
                            case 3...5:
                                let isNew = try Array(key.utf8).withUnsafeBytes { key in
                                    try Array("\(step)".utf8).withUnsafeBytes {
                                        try transaction.put(database, key: key, value: $0, overwrite: false)
                                    }
                                }
                                #expect(isNew == (model[number][key] == nil))
                                if isNew { model[number][key] = "\(step)" }
                            case 6...9:
                                let existed = try transaction.delete(database, Array(key.utf8))
                                #expect(existed == (model[number].removeValue(forKey: key) != nil))
                            case 10:
                                #expect(try transaction.get(database, key) == model[number][key])
                                #expect(try transaction.statistics(of: database).entries == model[number].count)
                            default:
                                var keys: [String] = []
                                var cursor = try transaction.cursor(database)
                                try cursor.forEach { key, _ in keys.append(String(decoding: key, as: UTF8.self)) }
                                #expect(keys == model[number].keys.sorted())
                            }
                        }
                        if !isKept { throw Abandoned() }
                    }
                    if isKept { committed = model }
                    for (number, database) in databases.enumerated() {
                        for key in ["a", "b"] {
                            #expect(try environment.get(database, key) == committed[number][key])
                        }
                    }
                }
            }
        }
    }

    private struct Abandoned: Error {}

    @Test func deletingAndPuttingTheOnlyEntryTakesNoPages() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let database = try environment.databases("1")[0]
                try environment.put(database, "a", "1")
                let before = try #require(environment.sizes?.extent)
                try environment.write { transaction in
                    for number in 0..<2_000 {
                        let key = Array((number % 2 == 0 ? "a" : "b").utf8)
                        #expect(try transaction.delete(database, key))
                        try transaction.put(database, number % 2 == 0 ? "b" : "a", "1")
                    }
                }
                #expect(try #require(environment.sizes?.extent) - before < 10 * 4_096)
                #expect(try environment.get(database, "a") == "1")
                #expect(try environment.get(database, "b") == nil)
            }
        }
    }
}
