// SPDX-License-Identifier: Apache-2.0

import RoostLMDB
import RoostTestSupport
import Testing

// Hazard 14: a process that dies inside a write transaction takes nothing and blocks nobody.
@Suite struct DeadWriterTests {
    @Test func theNextWriterGoesOn() throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options()
            try Environment.with(folder, options: options) { environment in
                let database = try environment.databases("1")[0]
                for round in 0..<repetitions(8, thorough: 50) {
                    let writer = try HelperProcess(["writeRaw", folder])
                    #expect(writer.line() == "ready")
                    writer.kill()
                    try environment.put(database, "round \(round)", "here")
                    let keys = try environment.read { try $0.entries(database).map(\.key) }
                    #expect(keys == (0...round).map { "round \($0)" }.sorted().map { Array($0.utf8) })
                }
            }
        }
    }

    /// The waiter that gets the dead writer's lock is another one than the survivor above, who took it afterwards.
    @Test func aWaitingWriterInheritsTheLock() throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options()
            try Environment.with(folder, options: options) { environment in
                let database = try environment.databases("1")[0]
                for round in 0..<5 {
                    let writer = try HelperProcess(["writeRaw", folder])
                    #expect(writer.line() == "ready")
                    let waiting = Signal()
                    try onThreads(2) { thread in
                        if thread == 0 {
                            waiting.send()
                            try environment.put(database, "round \(round)", "here")
                        } else {
                            waiting.wait()
                            writer.kill()
                        }
                    }
                    #expect(try environment.read { try $0.entries(database).count } == round + 1)
                }
            }
        }
    }
}
