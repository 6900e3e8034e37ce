// SPDX-License-Identifier: Apache-2.0

import RoostLMDB
import RoostTestSupport
import Testing

@Suite struct CursorTests {
    private struct Mine: Error {}

    private func withNumbers(_ body: (Environment, Database) throws -> Void) throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let database = try environment.databases("1")[0]
                try environment.write { transaction in
                    for number in 0..<200 { try transaction.put(database, [UInt8(number)], [UInt8(number)]) }
                }
                try body(environment, database)
            }
        }
    }

    // Hazard 35: a cursor closes when an error leaves its scope, and before its transaction ends.
    @Test func anErrorInAScanLeavesNothingBehind() throws {
        try withNumbers { environment, database in
            for round in 0..<50 {
                #expect(throws: Mine.self) {
                    try environment.read { transaction in
                        var cursor = try transaction.cursor(database)
                        var isFound = try cursor.last()
                        while isFound {
                            if cursor.key[0] == UInt8(round) { throw Mine() }
                            isFound = try cursor.previous()
                        }
                    }
                }
                // Caught inside the write, which goes on and commits.
                try environment.write { transaction in
                    do {
                        var cursor = try transaction.cursor(database)
                        var isFound = try cursor.first()
                        while isFound {
                            if cursor.key[0] == UInt8(round) { throw Mine() }
                            isFound = try cursor.next()
                        }
                    } catch is Mine {}
                    try transaction.put(database, [UInt8(round)], [0])
                }
                // Not caught: the write aborts with the cursor open.
                #expect(throws: Mine.self) {
                    try environment.write { transaction in
                        try transaction.put(database, [255], [0])
                        var cursor = try transaction.cursor(database)
                        if try cursor.first() { throw Mine() }
                    }
                }
            }
            #expect(!environment.isBusyOnThisThread)
            #expect(environment.oldestReader == nil)
            let entries = try environment.read { try $0.entries(database) }
            #expect(entries.count == 200)
            #expect(entries.prefix(50).allSatisfy { $0.value == [0] })
        }
    }

    @Test func seeksStandWhereTheySay() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let database = try environment.databases("1")[0]
                let numbers = (0..<100).map { UInt8($0 * 2 + 10) }
                try environment.write { transaction in
                    for number in numbers { try transaction.put(database, [number], [number]) }
                }
                try environment.read { transaction in
                    var cursor = try transaction.cursor(database)
                    for bound in UInt8.min...UInt8.max {
                        try [bound].withUnsafeBytes { raw in
                            let above = try cursor.seek(atLeast: raw) ? cursor.key[0] : nil
                            #expect(above == numbers.first { $0 >= bound })
                            let below = try cursor.seek(below: raw) ? cursor.key[0] : nil
                            #expect(below == numbers.last { $0 < bound })
                            #expect(try cursor.seek(exactly: raw) == numbers.contains(bound))
                        }
                    }
                    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
                    #expect(try cursor.seek(atLeast: nothing) && cursor.key[0] == 10)
                    #expect(try !cursor.seek(below: nothing))
                }
            }
        }
    }

    /// The cursors that a write keeps between its puts and deletes, against a dictionary.
    @Test func randomWritesEqualAModel() throws {
        var random = SeededGenerator()
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let databases = try environment.databases("1", "2", "3")
                var models = [[[UInt8]: [UInt8]]](repeating: [:], count: 3)
                for _ in 0..<60 {
                    var changed = models
                    let aborts = Int.random(in: 0..<5, using: &random) == 0
                    do {
                        try environment.write { transaction in
                            for _ in 0..<Int.random(in: 1...150, using: &random) {
                                try step(&random, databases, transaction, &changed)
                            }
                            if aborts { throw Mine() }
                        }
                        models = changed
                    } catch is Mine {}
                    try environment.read { transaction in
                        for (database, model) in zip(databases, models) {
                            let expected = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                            let found = try transaction.entries(database)
                            #expect(found.map(\.key) == expected.map(\.key))
                            #expect(found.map(\.value) == expected.map(\.value))
                        }
                    }
                }
            }
        }
    }

    private func step(
        _ random: inout SeededGenerator, _ databases: [Database], _ transaction: Transaction,
        _ models: inout [[[UInt8]: [UInt8]]]
    ) throws {
        let choice = Int.random(in: 0..<3, using: &random)
        let key = Array("\(Int.random(in: 0..<400, using: &random))".utf8)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6:
            let sizes = [0, 10, 300, 1_500, 9_000]
            let value = random.bytes(sizes[Int.random(in: 0..<sizes.count, using: &random)])
            try transaction.put(databases[choice], key, value)
            models[choice][key] = value
        case 6..<9:
            let had = models[choice].removeValue(forKey: key) != nil
            #expect(try transaction.delete(databases[choice], key) == had)
        default:
            let stored = try key.withUnsafeBytes { key in
                try [UInt8(1)].withUnsafeBytes {
                    try transaction.put(databases[choice], key: key, value: $0, overwrite: false)
                }
            }
            #expect(stored == (models[choice][key] == nil))
            if stored { models[choice][key] = [1] }
        }
    }
}
