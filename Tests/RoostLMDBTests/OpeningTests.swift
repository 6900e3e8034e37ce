// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import RoostTestSupport
import Synchronization
import Testing

// Hazard 1: one environment for one file, whatever path leads to it.
@Suite struct OpeningTests {
    @Test func everyAliasOfTheDirectoryGivesTheSameEnvironment() throws {
        try withTemporaryFolder { folder in
            let real = folder + "/real"
            let files = FileManager.default
            let first = try Environment.open(real)
            defer { Environment.close(first) }
            try files.createSymbolicLink(atPath: folder + "/link", withDestinationPath: real)
            try files.createSymbolicLink(atPath: folder + "/link to link", withDestinationPath: folder + "/link")
            try files.createDirectory(atPath: folder + "/side", withIntermediateDirectories: true)
            try files.createSymbolicLink(atPath: folder + "/side/relative", withDestinationPath: "../real")
            let aliases = [
                "/real", "/real/", "//real", "/./real/.", "/side/../real", "/real/../real", "/link", "/link/",
                "/link to link", "/side/relative", "/side/relative/../real",
            ]
            for alias in aliases {
                let again = try Environment.open(folder + alias)
                #expect(again === first, "\(alias)")
                Environment.close(again)
            }
            let database = try first.databases("1")[0]
            try first.put(database, "still", "open")
            #expect(try first.get(database, "still") == "open")
        }
    }

    @Test func aDataFileWithASecondHardLinkIsRefusedUnderBothNames() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder + "/one") { _ = try $0.databases("1") }
            try FileManager.default.createDirectory(atPath: folder + "/two", withIntermediateDirectories: true)
            try FileManager.default.linkItem(
                atPath: Environment.dataFile(in: folder + "/one"), toPath: Environment.dataFile(in: folder + "/two"))
            for name in ["/one", "/two"] {
                #expect(isLinked(failure(of: { try Environment.open(folder + name) })))
            }
            try FileManager.default.removeItem(atPath: Environment.dataFile(in: folder + "/two"))
            try Environment.with(folder + "/one") { _ in }
        }
    }

    @Test func aHardLinkMadeWhileTheFileIsOpenIsRefused() throws {
        try withTemporaryFolder { folder in
            let first = try Environment.open(folder + "/one")
            defer { Environment.close(first) }
            try FileManager.default.createDirectory(atPath: folder + "/two", withIntermediateDirectories: true)
            try FileManager.default.linkItem(
                atPath: Environment.dataFile(in: folder + "/one"), toPath: Environment.dataFile(in: folder + "/two"))
            #expect(isLinked(failure(of: { try Environment.open(folder + "/two") })))
        }
    }

    /// The lock file beside the link would not be the one beside the file.
    @Test func aDataFileThatIsASymbolicLinkIsRefused() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder + "/one") { _ = try $0.databases("1") }
            try FileManager.default.createDirectory(atPath: folder + "/two", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: Environment.dataFile(in: folder + "/two"),
                withDestinationPath: Environment.dataFile(in: folder + "/one"))
            #expect(isLinked(failure(of: { try Environment.open(folder + "/two") })))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/two") == ["data.mdb"])
            try Environment.with(folder + "/one") { _ in }
        }
    }

    /// LMDB would make the file that the link leads to, with the lock file of the link.
    @Test func aLinkToNoFileIsNotFollowed() throws {
        try withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder + "/two", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: Environment.dataFile(in: folder + "/two"), withDestinationPath: folder + "/nowhere.mdb")
            #expect(isLinked(failure(of: { try Environment.open(folder + "/two") })))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["two"])
        }
    }

    @Test func otherOptionsAreATypedErrorAndLeaveTheFirstAlone() throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options(maximumSize: 1 << 24, durability: .unsafe)
            let first = try Environment.open(folder, options: options)
            defer { Environment.close(first) }
            var others = [options, options, options, options, options]
            others[0].maximumSize = 1 << 25
            others[1].durability = .full
            others[2].isReadOnly = true
            others[3].readerLimit = 5
            others[4].databaseLimit = 9
            for other in others {
                #expect(isOptionsDiffer(failure(of: { try Environment.open(folder, options: other) })))
            }
            let again = try Environment.open(folder, options: options)
            #expect(again === first)
            Environment.close(again)
            let database = try first.databases("1")[0]
            try first.put(database, "still", "open")
        }
    }

    // Hazard 2
    @Test func aFileThatThisProcessHasOpenIsNotLookedInto() throws {
        try withTemporaryFolder { folder in
            var looks = 0
            func open() throws -> Environment {
                try Environment.open(
                    directory: folder, options: .init(durability: .unsafe), inspect: { looks += 1 }, prepare: { $0 })
            }
            try Environment.with(folder) { _ = try $0.databases("1") }
            let (first, second) = (try open(), try open())
            #expect(first === second && looks == 1)
            Environment.close(first)
            Environment.close(second)
            Environment.close(try open())
            #expect(looks == 2)
        }
    }

    // Hazard 28
    @Test(arguments: [1 << 20, 1 << 20 + 1, 5_000_000]) func anyPageSizeDividesTheMap(_ size: Int) throws {
        try withTemporaryFolder { folder in
            let environment = try Environment.open(folder, options: .init(maximumSize: size, durability: .unsafe))
            defer { Environment.close(environment) }
            let map = try #require(environment.sizes?.map)
            #expect(map % 65_536 == 0 && map >= size)
        }
    }

    /// Each user counts: the environment stays open until the last of them has closed.
    @Test func theLastUserCloses() throws {
        try withTemporaryFolder { folder in
            let first = try Environment.open(folder)
            let second = try Environment.open(folder)
            let database = try first.databases("1")[0]
            Environment.close(first)
            try second.put(database, "a", "1")
            #expect(second.sizes != nil)
            Environment.close(second)
            #expect(second.sizes == nil && second.newestSnapshotID == nil && second.readerSlots == nil)
            #expect(isClosed(failure(of: { try second.read { _ in } })))
            #expect(isClosed(failure(of: { try second.write { _ in } })))
            try Environment.with(folder) { (third) throws in
                #expect(third !== first)
                #expect(try third.get(try third.databases("1")[0], "a") == "1")
            }
        }
    }

    @Test func aHundredTasksRaceOpenAndClose() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/alias", withDestinationPath: folder + "/store")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<100 {
                    group.addTask {
                        for round in 0..<5 {
                            try Environment.with(folder + (task % 2 == 0 ? "/store" : "/alias")) { environment in
                                let database = try environment.databases("1")[0]
                                try environment.put(database, "\(task) \(round)", "here")
                                #expect(try environment.get(database, "\(task) \(round)") == "here")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try Environment.with(folder + "/store") { environment in
                let database = try environment.databases("1")[0]
                #expect(try environment.read { try $0.entries(database).count } == 500)
            }
        }
    }

    /// A thread inside a transaction of one environment may open another one while the first is being closed.
    @Test func closingOneEnvironmentDoesNotHoldUpOpeningAnother() throws {
        try withTemporaryFolder { folder in
            let first = try Environment.open(folder + "/one")
            let reading = Signal()
            try onThreads(2) { thread in
                if thread == 0 {
                    try first.read { _ in
                        reading.send()
                        // The closer has refused new readers when `sizes` is gone, and then waits for this one.
                        while first.sizes != nil { sched_yield() }
                        try Environment.with(folder + "/two") { _ in }
                    }
                } else {
                    reading.wait()
                    Environment.close(first)
                }
            }
        }
    }

    /// Inside a transaction nobody waits for one who waits for its end: it is an error, not a deadlock.
    @Test func openingInsideATransactionWhileItCloses() throws {
        try withTemporaryFolder { folder in
            let first = try Environment.open(folder)
            let reading = Signal()
            try onThreads(2) { thread in
                if thread == 0 {
                    try first.read { _ in
                        reading.send()
                        while first.sizes != nil { sched_yield() }
                        let error = failure(of: { try Environment.open(folder) }) as? Environment.OpenError
                        guard case .busy? = error else { throw error ?? Environment.OpenError.busy }
                    }
                } else {
                    reading.wait()
                    Environment.close(first)
                }
            }
            try Environment.with(folder) { _ in }
        }
    }
}
