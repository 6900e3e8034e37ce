// SPDX-License-Identifier: Apache-2.0

import RoostLMDB
import RoostTestSupport
import Testing

// Hazard 13: what may stand inside what, on one thread.
@Suite struct NestingTests {
    private func withEnvironment(
        readers: Int = 32, _ body: (Environment, Database) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options(durability: .unsafe, readerLimit: readers)
            try Environment.with(folder, options: options) { environment in
                let database = try environment.databases("1")[0]
                try environment.put(database, "a", "old")
                try body(environment, database)
            }
        }
    }

    @Test func aWriteInsideAWriteThrows() throws {
        try withEnvironment { environment, database in
            try environment.write { transaction in
                try transaction.put(database, "a", "new")
                #expect(isNestedWrite(failure(of: { try environment.write { _ in } })))
            }
            #expect(try environment.get(database, "a") == "new")
        }
    }

    @Test func aWriteInsideAReadInsideAWriteThrows() throws {
        try withEnvironment { environment, _ in
            try environment.write { _ in
                try environment.read { (_) throws in
                    #expect(environment.isWritingOnThisThread)
                    #expect(isNestedWrite(failure(of: { try environment.write { _ in } })))
                }
            }
            #expect(!environment.isWritingOnThisThread)
        }
    }

    @Test func aReadInsideAWriteJoinsIt() throws {
        try withEnvironment { environment, database in
            try environment.write { transaction in
                try transaction.put(database, "a", "new")
                try environment.read { (inner) throws in
                    #expect(inner === transaction)
                    #expect(try environment.get(database, "a") == "new")
                }
                #expect(environment.isWritingOnThisThread)
                #expect(environment.oldestReader == nil)
            }
            #expect(try environment.get(database, "a") == "new")
        }
    }

    /// The innermost one counts, whatever stands between.
    @Test func aReadInsideAWriteInsideAReadJoinsTheWrite() throws {
        try withEnvironment { environment, database in
            try withEnvironment { other, otherDatabase in
                try environment.read { outer in
                    try environment.write { transaction in
                        try transaction.put(database, "a", "new")
                        try other.read { (_) throws in
                            try environment.read { (inner) throws in #expect(inner === transaction) }
                            #expect(try other.get(otherDatabase, "a") == "old")
                        }
                    }
                    #expect(try outer.get(database, "a") == "old")
                    try environment.read { (inner) throws in #expect(inner === outer) }
                }
            }
        }
    }

    @Test func aReadInsideAReadJoinsIt() throws {
        try withEnvironment(readers: 1) { environment, database in
            let began = Signal()
            let written = Signal()
            try onThreads(2) { thread in
                if thread == 0 {
                    try environment.read { outer in
                        began.send()
                        written.wait()
                        try environment.read { (inner) throws in
                            #expect(inner === outer)
                            #expect(try inner.get(database, "a") == "old")
                        }
                        #expect(environment.isBusyOnThisThread)
                    }
                    #expect(!environment.isBusyOnThisThread)
                    #expect(try environment.get(database, "a") == "new")
                } else {
                    began.wait()
                    try environment.put(database, "a", "new")
                    written.send()
                }
            }
        }
    }

    @Test func transactionsOfTwoEnvironmentsNest() throws {
        try withEnvironment { first, one in
            try withEnvironment { second, two in
                try first.write { outer in
                    try second.write { inner in
                        try outer.put(one, "a", "1")
                        try inner.put(two, "a", "2")
                        #expect(isNestedWrite(failure(of: { try first.write { _ in } })))
                        #expect(isNestedWrite(failure(of: { try second.write { _ in } })))
                    }
                }
                #expect(try first.get(one, "a") == "1")
                #expect(try second.get(two, "a") == "2")
            }
        }
    }

    /// A reader that waits to write must not hold a place that a read inside the write needs.
    @Test func aReadInsideAWriteNeedsNoFreeReader() throws {
        try withEnvironment(readers: 1) { environment, database in
            let writing = Signal()
            let reading = Signal()
            try onThreads(2) { thread in
                if thread == 0 {
                    try environment.write { transaction in
                        try transaction.put(database, "b", "1")
                        writing.send()
                        reading.wait()
                        #expect(try environment.get(database, "a") == "old")
                    }
                } else {
                    writing.wait()
                    try environment.read { (_) throws in
                        reading.send()
                        try environment.put(database, "c", "2")
                    }
                }
            }
            #expect(try environment.get(database, "b") == "1")
            #expect(try environment.get(database, "c") == "2")
        }
    }
}
