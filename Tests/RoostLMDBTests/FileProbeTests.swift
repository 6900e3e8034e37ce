// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import RoostTestSupport
import Testing

// Hazard 27: what is said of a file before LMDB maps it.
@Suite struct FileProbeTests {
    private func withFile(
        _ make: (Environment) throws -> Void, _ body: (String) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder, make)
            try body(Environment.dataFile(in: folder))
        }
    }

    @Test func theFirstEntryIsFoundAtEveryDepth() throws {
        for count in [1, 10, 1_000, 20_000] {
            try withFile { environment in
                try environment.write { transaction in
                    let main = try #require(try environment.openDatabases([(nil, .housekeeping)], in: transaction)[0])
                    for number in 0..<count {
                        try transaction.put(main, Array("\(100_000 + number)".utf8), Array("value \(number)".utf8))
                    }
                }
            } _: { (file) throws in
                let entry = try #require(try FileProbe.firstEntry(of: file))
                #expect(entry.key == Array("100000".utf8))
                #expect(entry.value == Array("value 0".utf8))
            }
        }
    }

    @Test func anEmptyMainDatabaseHasNoEntry() throws {
        try withFile { _ in
        } _: { (file) throws in
            #expect(try FileProbe.firstEntry(of: file) == nil)
        }
    }

    /// Pages that a transaction took at the file's end and gave back are never written: the file may end before the last
    /// page that LMDB counts.
    @Test func aFileThatEndsBeforeItsLastCountedPageIsHealthy() throws {
        try withFile { environment in
            let database = try environment.databases("1")[0]
            for round in 0..<5 {
                try environment.write { transaction in
                    for number in 0..<50 {
                        try transaction.put(
                            database, Array("\(number)".utf8), [UInt8](repeating: 1, count: 500 + round))
                    }
                }
            }
            try environment.write { transaction in
                try transaction.put(database, "large", String(repeating: "x", count: 4_000_000))
                try transaction.delete(database, Array("large".utf8))
                try transaction.put(database, "small", "x")
            }
        } _: { (file) throws in
            #expect(try FileProbe.firstEntry(of: file) != nil)
        }
    }

    /// A foreign file's first value may be of any size; it is not damaged for that.
    @Test func aFirstValueOnPagesOfItsOwnIsNotDamage() throws {
        try withFile { environment in
            try environment.write { transaction in
                let main = try #require(try environment.openDatabases([(nil, .housekeeping)], in: transaction)[0])
                try transaction.put(main, "foreign", String(repeating: "x", count: 100_000))
            }
        } _: { (file) throws in
            let entry = try #require(try FileProbe.firstEntry(of: file))
            #expect(entry.key == Array("foreign".utf8))
            #expect(entry.value.count == 100_000)
        }
    }

    /// Any bytes are looked at without a trap: every byte of the first pages flipped, every length cut.
    @Test func noDamageTraps() throws {
        var random = SeededGenerator()
        try withFile { environment in
            try environment.write { transaction in
                let main = try #require(try environment.openDatabases([(nil, .housekeeping)], in: transaction)[0])
                for number in 0..<300 { try transaction.put(main, "\(number)", "value \(number)") }
            }
        } _: { (file) throws in
            let url = URL(fileURLWithPath: file)
            let healthy = try Data(contentsOf: url)
            let handle = try FileHandle(forUpdating: url)
            defer { try? handle.close() }
            let hot = Array(0..<200) + Array(4_096..<4_296)
            let cold = (0..<1_500).map { _ in Int.random(in: 0..<healthy.count, using: &random) }
            for offset in hot + cold {
                for mask in [UInt8(0xFF), 1 << UInt8.random(in: 0..<8, using: &random)] {
                    try overwrite(handle, offset, healthy[offset] ^ mask)
                    _ = try? FileProbe.firstEntry(of: file)
                    try overwrite(handle, offset, healthy[offset])
                }
            }
            #expect(try FileProbe.firstEntry(of: file)?.key == Array("0".utf8))
            for _ in 0..<200 {
                try handle.truncate(atOffset: UInt64.random(in: 0..<UInt64(healthy.count), using: &random))
                _ = try? FileProbe.firstEntry(of: file)
                try handle.truncate(atOffset: 0)
                try handle.write(contentsOf: healthy)
            }
        }
    }

    private func overwrite(_ handle: FileHandle, _ offset: Int, _ byte: UInt8) throws {
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: [byte])
    }
}
