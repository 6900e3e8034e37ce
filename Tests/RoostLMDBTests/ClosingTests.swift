// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import RoostTestSupport
import Synchronization
import Testing

// Hazard 3: close waits for the live transactions; afterwards there is an error, never a crash.
@Suite struct ClosingTests {
    @Test func closeRacesReadWriteAndScan() throws {
        try withTemporaryFolder { folder in
            for _ in 0..<repetitions(300, thorough: 1_000) {
                let environment = try Environment.open(folder)
                let database = try environment.databases("1")[0]
                let working = [Signal(), Signal(), Signal()]
                try onThreads(4) { thread in
                    if thread == 3 {
                        for signal in working { signal.wait() }
                        Environment.close(environment)
                        return
                    }
                    var count = 0
                    do {
                        while true {
                            switch thread {
                            case 0: _ = try environment.get(database, "a")
                            case 1: try environment.put(database, "\(count % 50)", "value \(count)")
                            default: _ = try environment.read { try $0.entries(database) }
                            }
                            count += 1
                            if count == 1 { working[thread].send() }
                        }
                    } catch  where isClosed(error) {
                        return
                    }
                }
                #expect(environment.sizes == nil)
            }
        }
    }

    @Test func closeWaitsForAReader() throws {
        try withTemporaryFolder { folder in
            let environment = try Environment.open(folder)
            let database = try environment.databases("1")[0]
            try environment.put(database, "a", "1")
            let reading = Signal()
            try onThreads(2) { thread in
                if thread == 0 {
                    try environment.read { (transaction) throws in
                        reading.send()
                        while environment.sizes != nil { sched_yield() }
                        // The map is still there, although new transactions are refused.
                        #expect(try transaction.get(database, "a") == "1")
                    }
                } else {
                    reading.wait()
                    Environment.close(environment)
                }
            }
        }
    }

    @Test func closeWaitsForAWriterWhoseCommitIsKept() throws {
        try withTemporaryFolder { folder in
            let environment = try Environment.open(folder)
            let database = try environment.databases("1")[0]
            let writing = Signal()
            try onThreads(2) { thread in
                if thread == 0 {
                    try environment.write { transaction in
                        writing.send()
                        while environment.sizes != nil { sched_yield() }
                        try transaction.put(database, "a", "1")
                    }
                } else {
                    writing.wait()
                    Environment.close(environment)
                }
            }
            try Environment.with(folder) { (environment) throws in
                let database = try environment.databases("1")[0]
                #expect(try environment.get(database, "a") == "1")
            }
        }
    }

    /// Those who wait for a reader's place are told, too.
    @Test func closeWakesThoseWhoWaitForAReader() throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options(durability: .unsafe, readerLimit: 1)
            let environment = try Environment.open(folder, options: options)
            let reading = Signal()
            let asking = (2..<6).map { _ in Signal() }
            let outcomes = Mutex<[Bool]>([])
            try onThreads(6) { thread in
                if thread == 0 {
                    try environment.read { _ in
                        reading.send()
                        while environment.sizes != nil { sched_yield() }
                    }
                } else if thread == 1 {
                    for signal in asking { signal.wait() }
                    // Lets them get as far as to wait; the test holds in any order.
                    for _ in 0..<1_000 { sched_yield() }
                    Environment.close(environment)
                } else {
                    reading.wait()
                    asking[thread - 2].send()
                    do {
                        try environment.read { _ in }
                        outcomes.withLock { $0.append(true) }
                    } catch  where isClosed(error) {
                        outcomes.withLock { $0.append(false) }
                    }
                }
            }
            #expect(outcomes.withLock { $0 } == [false, false, false, false])
        }
    }
}
