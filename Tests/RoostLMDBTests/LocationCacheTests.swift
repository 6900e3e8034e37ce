// SPDX-License-Identifier: Apache-2.0

import RoostLMDB
import RoostTestSupport
import Testing

/// A reader that remembers where it found values must never give one of another snapshot.
@Suite struct LocationCacheTests {
    private static let keys = 6_000

    private func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) } }

    /// Looks the keys up at once.
    private func values(
        of numbers: [Int], _ database: Database, in transaction: Transaction
    ) throws -> [[UInt8]?] {
        let bytes = numbers.flatMap { key($0) }
        return try bytes.withUnsafeBytes { bytes in
            let keys = numbers.indices.map { UnsafeRawBufferPointer(rebasing: bytes[8 * $0..<8 * $0 + 8]) }
            let found = try [UnsafeRawBufferPointer](unsafeUninitializedCapacity: keys.count) { values, count in
                try keys.withUnsafeBufferPointer { keys in
                    guard let start = values.baseAddress else { return }
                    try transaction.lookup.get(database, keys, start)
                }
                count = keys.count
            }
            return found.map { $0.baseAddress == nil ? nil : Array($0) }
        }
    }

    private func withNumbers(
        _ body: (Environment, [Database]) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let databases = try environment.databases("1", "2")
                try environment.write { transaction in
                    for number in 0..<Self.keys {
                        try transaction.put(databases[0], key(number), key(number))
                        try transaction.put(databases[1], key(number), key(number + 1))
                    }
                }
                try body(environment, databases)
            }
        }
    }

    /// Random reads, hot and cold, between random commits, against a dictionary. One reader at a time has one slot, so
    /// every read uses the same cache.
    @Test func readsBetweenCommitsSeeTheirSnapshot() throws {
        var random = SeededGenerator()
        try withNumbers { environment, databases in
            var expected: [[Int: [UInt8]]] = [[:], [:]]
            for number in 0..<Self.keys {
                expected[0][number] = key(number)
                expected[1][number] = key(number + 1)
            }
            for round in 0..<60 {
                // Keys that come again and again fill the cache; the others push them out.
                let hot = (0..<300).map { _ in Int.random(in: 0..<Self.keys, using: &random) }
                try environment.read { transaction in
                    for _ in 0..<6 {
                        for number in hot + [Int.random(in: 0..<Self.keys, using: &random)] {
                            for which in 0..<2 {
                                let found = try key(number).withUnsafeBytes {
                                    try transaction.get(databases[which], $0).map { Array($0) }
                                }
                                #expect(found == expected[which][number], "round \(round), \(which), \(number)")
                            }
                        }
                        // Groups of which the cache knows all, some and none.
                        let size = Int.random(in: 1...80, using: &random)
                        let group = (0..<size).map { index in
                            index % 3 == round % 3 ? Int.random(in: 0..<Self.keys + 50, using: &random) : hot[index]
                        }
                        for which in 0..<2 {
                            let found = try values(of: group, databases[which], in: transaction)
                            #expect(found == group.map { expected[which][$0] }, "round \(round), \(which)")
                        }
                    }
                }
                if round % 4 == 3 { continue }
                try environment.write { transaction in
                    for number in hot.prefix(100) + [Int.random(in: 0..<Self.keys, using: &random)] {
                        let which = Int.random(in: 0..<2, using: &random)
                        if Bool.random(using: &random) {
                            expected[which][number] = nil
                            _ = try key(number).withUnsafeBytes { try transaction.delete(databases[which], key: $0) }
                        } else {
                            let value = [UInt8](
                                repeating: UInt8(truncatingIfNeeded: round),
                                count: Int.random(in: 0...6_000, using: &random))
                            expected[which][number] = value
                            try transaction.put(databases[which], key(number), value)
                        }
                    }
                    // A write sees what it did, whatever readers found before.
                    for number in hot {
                        let found = try key(number).withUnsafeBytes {
                            try transaction.get(databases[0], $0).map { Array($0) }
                        }
                        #expect(found == expected[0][number])
                    }
                }
            }
        }
    }

    @Test func aValueFoundAgainCountsAsARead() throws {
        try withNumbers { environment, databases in
            try environment.read { transaction in
                for _ in 0..<50 {
                    for number in 0..<100 {
                        let found = try key(number).withUnsafeBytes { try transaction.get(databases[0], $0) != nil }
                        #expect(found)
                    }
                }
                #expect(transaction.counters.recordsRead == 5_000)
                for _ in 0..<50 {
                    let found = try values(of: Array(0..<100), databases[0], in: transaction)
                    #expect(found.allSatisfy { $0 != nil })
                }
                #expect(transaction.counters.recordsRead == 10_000)
            }
        }
    }
}
