// SPDX-License-Identifier: Apache-2.0

import RoostLMDB
import RoostTestSupport
import Testing

// Hazard 24: after a failed write a transaction can only abort, whoever catches the error.
@Suite struct FailedWriteTests {
    @Test func aCaughtFailureStillFailsTheCommit() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let database = try environment.databases("1")[0]
                try environment.put(database, "kept", "1")
                var first: (any Error)?
                let told = failure(of: {
                    try environment.write { transaction in
                        try transaction.put(database, "lost", "1")
                        do {
                            try transaction.put(database, [UInt8](repeating: 65, count: 512), [])
                        } catch {
                            first = error
                        }
                        #expect(failure(of: { try transaction.put(database, "after", "1") }) != nil)
                        #expect(failure(of: { try transaction.delete(database, Array("kept".utf8)) }) != nil)
                    }
                })
                #expect(lmdbError(first) != nil)
                #expect(lmdbError(told)?.code == lmdbError(first)?.code)
                #expect(try environment.read { try $0.entries(database).map(\.key) } == [Array("kept".utf8)])
                try environment.put(database, "next", "1")
            }
        }
    }

    /// Row by row, so that the failure falls on every possible put.
    @Test func failingTheNthPutLeavesNothing() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let databases = try environment.databases("1", "2")
                for fault in 0..<20 {
                    #expect(throws: (any Error).self) {
                        try environment.write { transaction in
                            for step in 0..<20 {
                                let key = step == fault ? [] : [UInt8(step)]
                                try? transaction.put(databases[step % 2], key, [1, 2, 3])
                            }
                        }
                    }
                    for database in databases {
                        #expect(try environment.read { try $0.entries(database).isEmpty })
                    }
                }
            }
        }
    }

    /// A full map makes LMDB refuse everything afterwards; the error that is told stays the first one.
    @Test func theFirstFailureIsTheOneThatIsTold() throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options(maximumSize: 1 << 20, durability: .unsafe)
            try Environment.with(folder, options: options) { environment in
                let database = try environment.databases("1")[0]
                var later: (any Error)?
                let told = failure(of: {
                    try environment.write { transaction in
                        let value = [UInt8](repeating: 1, count: 1_000)
                        for number in 0..<4_000 {
                            do {
                                try transaction.put(database, Array("\(number)".utf8), value)
                            } catch {
                                break
                            }
                        }
                        do { _ = try transaction.get(database, "1") } catch { later = error }
                    }
                })
                #expect(lmdbError(told)?.isMapFull == true)
                #expect(later == nil || lmdbError(later)?.isMapFull == true)
                #expect(try environment.read { try $0.entries(database).isEmpty })
            }
        }
    }

    @Test func theBodysOwnErrorAborts() throws {
        struct Mine: Error {}
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let database = try environment.databases("1")[0]
                #expect(throws: Mine.self) {
                    try environment.write { transaction in
                        try transaction.put(database, "a", "1")
                        throw Mine()
                    }
                }
                #expect(try environment.get(database, "a") == nil)
                try environment.put(database, "a", "2")
                #expect(try environment.get(database, "a") == "2")
            }
        }
    }
}
