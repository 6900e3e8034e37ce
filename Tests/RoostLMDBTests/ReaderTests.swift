// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import RoostLMDB

// Hazards 9, 10 and 11: who reads, for how long, and how many.
@Suite struct ReaderTests {
    // Hazard 10
    @Test func theOldestReaderIsVisible() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let database = try environment.databases("1")[0]
                #expect(environment.oldestReader == nil)
                #expect(environment.oldestReaderLag == nil)
                let began = Signal()
                let written = Signal()
                try onThreads(2) { (thread) throws in
                    if thread == 0 {
                        let lease = try environment.beginRead(origin: ReaderOrigin(file: "somewhere", line: 42))
                        let snapshot = lease.transaction.snapshotID
                        began.send()
                        written.wait()
                        let oldest = try #require(environment.oldestReader)
                        #expect(oldest.snapshotID == snapshot)
                        #expect(oldest.age < 60_000)
                        #expect("\(try #require(oldest.origin).file)" == "somewhere")
                        #expect(oldest.origin?.line == 42)
                        #expect(environment.oldestReaderLag == 7)
                        #expect(environment.newestSnapshotID == snapshot + 7)
                        withExtendedLifetime(lease) { _ in }
                    } else {
                        began.wait()
                        for number in 0..<7 { try environment.put(database, "a", "\(number)") }
                        try environment.read { _ in
                            #expect(environment.oldestReader?.origin?.line == 42)
                        }
                        written.send()
                    }
                }
                #expect(environment.oldestReader == nil)
                #expect(environment.oldestReaderLag == nil)
            }
        }
    }

    // Hazard 10
    @Test func anotherProcesssReaderIsVisible() throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options()
            try Environment.with(folder, options: options) { environment in
                let database = try environment.databases("1")[0]
                let reader = try HelperProcess(["read", folder])
                #expect(reader.line() == "ready")
                for number in 0..<5 { try environment.put(database, "a", "\(number)") }
                #expect(environment.oldestReaderLag == 5)
                #expect(environment.oldestReader == nil)
                #expect(reader.finish() == 0)
                #expect(environment.oldestReaderLag == nil)
            }
        }
    }

    // Hazard 10: reads in chunks, each in a snapshot of its own, let the writer use freed pages again.
    //
    //     reader  [chunk 1]    [chunk 2]    [chunk 3] …      or      [one snapshot ……………… ]
    //     writer       [commit]     [commit]     [commit]             [commit] [commit] …
    @Test(arguments: [true, false]) func chunkedReadsBesideAWriterKeepTheFileBounded(inChunks: Bool) throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let database = try environment.databases("1")[0]
                let value = [UInt8](repeating: 1, count: 500)
                try environment.write { transaction in
                    for number in 100..<400 { try transaction.put(database, Array("\(number)".utf8), value) }
                }
                func commit(_ round: Int) throws {
                    try environment.write { transaction in
                        for number in 0..<30 {
                            try transaction.put(database, Array("\((number + round * 30) % 300 + 100)".utf8), value)
                        }
                    }
                }
                let start = try #require(environment.sizes).extent
                if inChunks {
                    var after: [UInt8] = []
                    for round in 0..<300 {
                        after = try environment.read { transaction in
                            let last = try lastOfChunk(transaction, database, after: after)
                            // Each snapshot is still open when the next commit is made.
                            try commit(round)
                            return last
                        }
                    }
                } else {
                    try environment.read { _ in for round in 0..<300 { try commit(round) } }
                }
                let end = try #require(environment.sizes).extent
                #expect((end < start * 4) == inChunks, "\(start) bytes became \(end)")
            }
        }
    }

    /// Reads ten entries behind `after`; gives the last one's key, or none at the end.
    private func lastOfChunk(
        _ transaction: Transaction, _ database: Database, after: [UInt8]
    ) throws -> [UInt8] {
        var cursor = try transaction.cursor(database)
        var last: [UInt8] = []
        var count = 0
        var isFound = try (after.isEmpty ? [] : after + [0]).withUnsafeBytes { try cursor.seek(atLeast: $0) }
        while isFound, count < 10 {
            last = Array(cursor.key)
            count += 1
            isFound = try cursor.next()
        }
        return last
    }

    // Hazard 9
    @Test func killedReadersLeaveNoSlotsAndPinNoPages() throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options()
            var used: [Int] = []
            for round in 0..<repetitions(20, thorough: 200) {
                try Environment.with(folder, options: options) { environment in
                    let database = try environment.databases("1")[0]
                    let value = [UInt8](repeating: UInt8(round), count: 200_000)
                    for _ in 0..<3 {
                        try environment.write { try $0.put(database, [1], value) }
                    }
                    used.append(try #require(environment.sizes).extent)
                    #expect(try #require(environment.readerSlots).used <= 4)
                }
                let reader = try HelperProcess(["read", folder])
                #expect(reader.line() == "ready")
                reader.kill()
            }
            #expect(try #require(used.last) <= used[3], "\(used)")
        }
    }

    // Hazard 9: the writer that is open all the time finds out, too.
    @Test func aReaderKilledBesideALongLivedWriterIsNoticed() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let database = try environment.databases("1")[0]
                let value = [UInt8](repeating: 1, count: 20_000)
                try environment.write { try $0.put(database, [1], value) }
                let reader = try HelperProcess(["read", folder])
                #expect(reader.line() == "ready")
                reader.kill()
                #expect(environment.oldestReaderLag == 0)
                let start = try #require(environment.sizes).extent
                for _ in 0..<2_000 { try environment.write { try $0.put(database, [1], value) } }
                let end = try #require(environment.sizes).extent
                #expect(environment.oldestReaderLag == nil)
                #expect(end < start + 1_200 * 24_576, "\(start) bytes became \(end)")
            }
        }
    }

    // Hazard 11
    @Test func moreThreadsThanReadersWaitAndNeverFail() throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options(durability: .unsafe, readerLimit: 4)
            try Environment.with(folder, options: options) { environment in
                let database = try environment.databases("1")[0]
                try environment.put(database, "a", "1")
                try onThreads(60) { (_) throws in
                    for _ in 0..<50 { #expect(try environment.get(database, "a") == "1") }
                }
                #expect(try #require(environment.readerSlots).used <= 4)
            }
        }
    }

    // Hazard 11: the lock file has so many places; who asks for more waits for one of his own.
    @Test func moreReadersThanTheLockFileHasPlacesWait() throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options(durability: .unsafe, readerLimit: 200, slotLimit: 126)
            try Environment.with(folder, options: options) { environment in
                let database = try environment.databases("1")[0]
                try environment.put(database, "a", "1")
                let limit = try #require(environment.readerSlots).limit
                let holding = (0..<limit).map { _ in Signal() }
                let release = Signal()
                try onThreads(limit + 30) { thread in
                    if thread < limit {
                        try environment.read { _ in
                            holding[thread].send()
                            release.wait()
                        }
                    } else {
                        for signal in holding { signal.wait() }
                        if thread == limit { release.send() }
                        for _ in 0..<20 { #expect(try environment.get(database, "a") == "1") }
                    }
                }
            }
        }
    }

    @Test func aReadAsideReadsWhileAllOthersAreInUse() throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options(durability: .unsafe, readerLimit: 1)
            try Environment.with(folder, options: options) { environment in
                let database = try environment.databases("1")[0]
                let (reading, read) = (Signal(), Signal())
                try onThreads(4) { (thread) throws in
                    if thread == 0 {
                        try environment.read { transaction in
                            reading.send()
                            read.wait()
                            // It is no part of the read that it is inside of.
                            let aside = try environment.readAside { $0.snapshotID }
                            #expect(aside > transaction.snapshotID)
                        }
                    } else {
                        reading.wait()
                        for number in 0..<20 {
                            try environment.put(database, "a\(thread)", "\(number)")
                            let found = try environment.readAside { try $0.get(database, "a\(thread)") }
                            #expect(found == "\(number)")
                        }
                        if thread == 1 { read.send() }
                    }
                }
            }
        }
    }

    // Hazard 11
    @Test func aProcessThatWasBusyOnceGivesItsSlotsBack() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder, options: Environment.Options(durability: .unsafe)) { environment in
                _ = try environment.databases("1")
                let busy = try HelperProcess(["readers", folder, "30"])
                #expect(busy.line() == "ready")
                #expect(environment.otherReaders?.slots == 30)
                busy.send("end")
                #expect(busy.line() == "idle")
                #expect(try #require(environment.otherReaders).slots <= 4)
                busy.finish()
            }
        }
    }

    /// Those that were just being ended counted as live, and as many were kept: seen with an odd number, as with an even one
    /// each that ended one ended a second.
    @Test func readsThatEndAtTheSameMomentKeepFewSlots() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                _ = try environment.databases("1")
                for _ in 0..<repetitions(20, thorough: 200) {
                    let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                    try onThreads(32) { (thread) throws in
                        if thread > 0 {
                            try environment.read { _ in
                                begun.signal()
                                end.wait()
                            }
                        } else {
                            for _ in 0..<31 { begun.wait() }
                            for _ in 0..<31 { end.signal() }
                        }
                    }
                    #expect(try #require(environment.readers { _ in true }).slots <= 4)
                }
            }
        }
    }

    @Test func readersThatAreInUseAreNotMadeAnewEachTime() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                _ = try environment.databases("1")
                let handles = try (0..<20).map { _ in try environment.read { ObjectIdentifier($0) } }
                #expect(Set(handles).count == 1)
            }
        }
    }

    // Hazard 11
    @Test(arguments: [false, true]) func slotsThatOtherProcessesHoldAreWaitedFor(isOpen: Bool) throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options(durability: .unsafe, slotLimit: 8)
            try Environment.with(folder, options: options) { environment in
                let database = try environment.databases("1")[0]
                try environment.put(database, "a", "1")
                #expect(environment.readerSlots?.limit == 8)
                let holder = try HelperProcess(["readers", folder, "8"])
                #expect(holder.line() == "ready")
                let waiting = Signal()
                try onThreads(2) { (thread) throws in
                    if thread == 0 {
                        waiting.send()
                        if isOpen {
                            #expect(try environment.get(database, "a") == "1")
                        } else {
                            #expect(try environment.readToOpen { try $0.get(database, "a") } == "1")
                        }
                    } else {
                        waiting.wait()
                        holder.send("end")
                        #expect(holder.line() == "idle")
                    }
                }
                holder.finish()
            }
        }
    }
}
