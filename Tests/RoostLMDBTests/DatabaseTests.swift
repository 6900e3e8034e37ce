// SPDX-License-Identifier: Apache-2.0

import RoostLMDB
import RoostTestSupport
import Testing

// Hazard 15: databases are opened in committed transactions, one opener at a time.
@Suite struct DatabaseTests {
    private struct Mine: Error {}

    @Test func aDatabaseOpenedInAnAbortedTransactionDoesNotExist() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let kept = try environment.databases("kept")[0]
                try environment.put(kept, "a", "1")
                for _ in 0..<10 {
                    #expect(throws: Mine.self) {
                        try environment.write { transaction in
                            let opened = try environment.openDatabases([("lost", .records)], in: transaction)
                            #expect(opened[0] != nil)
                            throw Mine()
                        }
                    }
                }
                try environment.readToOpen { (transaction) throws in
                    #expect(try environment.openDatabases([("lost", .records)], in: transaction)[0] == nil)
                }
                #expect(try environment.get(kept, "a") == "1")
                let made = try environment.databases("lost")[0]
                try environment.put(made, "b", "2")
                #expect(try environment.get(made, "b") == "2")
                #expect(try environment.get(kept, "b") == nil)
            }
        }
    }

    @Test func manyThreadsOpenDatabasesAtOnce() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                try onThreads(16) { thread in
                    for round in 0..<5 {
                        let databases = try environment.databases("\(round)", "own \(thread) \(round)")
                        try environment.put(databases[0], "\(thread)", "\(round)")
                        try environment.put(databases[1], "mine", "\(thread)")
                        #expect(try environment.get(databases[1], "mine") == "\(thread)")
                    }
                }
                for round in 0..<5 {
                    let shared = try environment.databases("\(round)")[0]
                    #expect(try environment.read { try $0.entries(shared).count } == 16)
                }
            }
        }
    }
}
