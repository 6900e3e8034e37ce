// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import RoostLMDB

// Hazard 41: LMDB follows a link in its lock file's place, and makes a lock file anew that somebody is still using.
@Suite struct LockFileTests {
    @Test func aLinkInTheLockFilesPlaceIsRefusedAndWhatItLeadsToIsLeftAlone() throws {
        try withTemporaryFolder { folder in
            let name = "lock.mdb"
            let (store, letter) = (folder + "/store", folder + "/letter")
            for isHard in [false, true] {
                for isMade in [true, false] {
                    try? FileManager.default.removeItem(atPath: store)
                    if isMade {
                        try Environment.with(store) { _ = try $0.databases("1") }
                        try FileManager.default.removeItem(atPath: store + "/" + name)
                    } else {
                        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
                    }
                    try Data("Dear reader".utf8).write(to: URL(fileURLWithPath: letter))
                    if isHard {
                        try FileManager.default.linkItem(atPath: letter, toPath: store + "/" + name)
                    } else {
                        try FileManager.default.createSymbolicLink(
                            atPath: store + "/" + name, withDestinationPath: letter)
                    }
                    guard case .lockFileLinked? = failure(of: { try Environment.open(store) }) as? Environment.OpenError
                    else {
                        Issue.record("not refused: \(name), hard: \(isHard), made: \(isMade)")
                        continue
                    }
                    #expect(try String(contentsOfFile: letter, encoding: .utf8) == "Dear reader")
                }
            }
        }
    }

    @Test func aLinkThatLeadsNowhereMakesNoFileThere() throws {
        try withTemporaryFolder { folder in
            let store = folder + "/store"
            try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: store + "/lock.mdb", withDestinationPath: folder + "/nowhere")
            #expect(throws: Environment.OpenError.self) { try Environment.open(store) }
            #expect(!FileManager.default.fileExists(atPath: folder + "/nowhere"))
        }
    }

    @Test(arguments: [false, true])
    func aLockFileThatIsRemovedUnderALiveProcessIsNotMadeAnew(bySomebodyElse isReplaced: Bool) throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { _ = try $0.databases("1") }
            let other = try HelperProcess(["read", folder])
            #expect(other.line() == "ready")
            try FileManager.default.removeItem(atPath: folder + "/lock.mdb")
            if isReplaced { try Data().write(to: URL(fileURLWithPath: folder + "/lock.mdb")) }
            for isReadOnly in [false, true] {
                let error = failure(of: {
                    try Environment.open(
                        folder, options: .init(durability: .unsafe, isReadOnly: isReadOnly), triesWhileMissing: 3)
                })
                guard case .lockFileRemoved? = error as? Environment.OpenError else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
            #expect(FileManager.default.fileExists(atPath: folder + "/lock.mdb") == isReplaced)
            other.send("go on")
            other.finish()
            // Nobody uses the old one any more.
            try Environment.with(folder) { environment in
                let database = try environment.databases("1")[0]
                try environment.put(database, "key", "value")
            }
        }
    }

    /// With a lock of our own on a file, whoever removed both files let a second process make both anew and write.
    @Test func aDirectoryWhoseFilesWereAllRemovedButTheDataStaysLocked() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { _ = try $0.databases("1") }
            let other = try HelperProcess(["read", folder])
            #expect(other.line() == "ready")
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name != "data.mdb" {
                try FileManager.default.removeItem(atPath: folder + "/" + name)
            }
            let error = failure(of: { try Environment.open(folder, triesWhileMissing: 3) })
            guard case .lockFileRemoved? = error as? Environment.OpenError else {
                Issue.record("\(String(describing: error))")
                return
            }
            other.finish()
            try Environment.with(folder) { _ = try $0.databases("1") }
        }
    }

    @Test func aStoreThatIsTakenExclusivelyIsReportedAsInUse() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { _ = try $0.databases("1") }
            let descriptor = open(folder, O_RDONLY)
            defer { close(descriptor) }
            #expect(flock(descriptor, LOCK_EX) == 0)
            guard case .inUse? = failure(of: { try Environment.open(folder) }) as? Environment.OpenError else {
                Issue.record("opened")
                return
            }
            flock(descriptor, LOCK_UN)
            try Environment.with(folder) { _ in }
        }
    }

    // Hazard 33.
    @Test func manyProcessesThatOpenAndCloseAtOnceAllSucceed() throws {
        try withTemporaryFolder { folder in
            for round in 0..<repetitions(3, thorough: 50) {
                let store = folder + "/\(round)"
                let others = try (0..<8).map { _ in try HelperProcess(["open", store]) }
                for other in others {
                    #expect(other.line() == "notes 0")
                    #expect(other.finish() == 0)
                }
            }
        }
    }
}

// Hazard 40.
@Suite struct StandardStreamTests {
    @Test func aStoreOpenedWithoutStandardStreamsIsNotWrittenOverByMessages() throws {
        try withTemporaryFolder { folder in
            let store = folder + "/store"
            #expect(try HelperProcess(["babble", store], withoutStreams: true).finish() == 0)
            // Again, on a store that is there.
            #expect(try HelperProcess(["babble", store], withoutStreams: true).finish() == 0)
            let reader = try HelperProcess(["open", store])
            #expect(reader.line() == "notes 4")
            #expect(reader.finish() == 0)
            for name in try FileManager.default.contentsOfDirectory(atPath: store) {
                let data = try Data(contentsOf: URL(fileURLWithPath: store + "/" + name))
                #expect(data.range(of: Data("!!!!!!!!".utf8)) == nil, "\(name)")
            }
        }
    }

    #if os(Linux)
        @Test func programsThatAreStartedInheritNoFileOfTheStore() throws {
            try withTemporaryFolder { folder in
                try Environment.with(folder) { _ in
                    var found = 0
                    for number in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
                        let link = "/proc/self/fd/\(number)"
                        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link),
                            target.hasPrefix(folder), let descriptor = Int32(number)
                        else { continue }
                        found += 1
                        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, "\(target)")
                    }
                    #expect(found >= 3)
                }
            }
        }
    #endif
}
