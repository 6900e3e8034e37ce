// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostLMDB
import RoostTestSupport
import Testing

// Hazard 27: what is not a store is told apart, and left as it is.
@Suite struct ForeignFileTests {
    private func verify(
        _ expected: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ make: (String) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            try make(path)
            let before = try contents(of: folder)
            for readOnly in [false, true] {
                let options = Store.Options(durability: .unsafe, isReadOnly: readOnly)
                let error = failure(of: { try Store.open(path, options: options, Storage.Note.self) })
                #expect(code(error) == expected, "\(error as Any)", sourceLocation: sourceLocation)
                #expect(try contents(of: folder) == before, sourceLocation: sourceLocation)
            }
        }
    }

    /// A directory with this `data.mdb` and nothing else.
    private func write(_ data: Data, to path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try data.write(to: URL(fileURLWithPath: path + "/data.mdb"))
    }

    /// Makes an LMDB file with `fill`, without its lock file.
    private func makeLMDB(_ path: String, _ fill: (Environment, Transaction) throws -> Void) throws {
        let environment = try Environment.open(
            directory: path, options: Environment.Options(durability: .unsafe), inspect: {},
            prepare: { (environment: Environment) in environment })
        try environment.write { try fill(environment, $0) }
        Environment.close(environment)
        try FileManager.default.removeItem(atPath: path + "/lock.mdb")
    }

    /// Changes the bytes of a healthy store's header.
    private func makeStore(_ path: String, header change: (inout [UInt8]) -> Void) throws {
        let store = try Store.open(path, Storage.Note.self)
        try store.write { tx in try tx.insert(Storage.Note(id: 1, text: "a")) }
        var header = store.engine.header.bytes
        change(&header)
        try store.engine.environment.write { try store.engine.main.put(.header, header, in: $0) }
        try store.close()
    }

    private func sealed(_ header: inout [UInt8]) {
        let checksum = header[..<36].withUnsafeBytes { Checksum.crc32c($0) }
        header.replaceSubrange(36..<40, with: withUnsafeBytes(of: checksum.littleEndian) { Array($0) })
    }

    @Test func anEmptyFile() throws { try verify(.notAStore) { try write(Data(), to: $0) } }

    @Test func aTextFile() throws {
        try verify(.notAStore) { try write(Data("Dear diary,\n".utf8), to: $0) }
        try verify(.notAStore) { try write(Data(String(repeating: "Dear diary,\n", count: 5_000).utf8), to: $0) }
    }

    @Test func aFileInTheStoresPlace() throws {
        try verify(.notAStore) { try Data("text".utf8).write(to: URL(fileURLWithPath: $0)) }
    }

    @Test func anotherProgramsLMDBFile() throws {
        for value in ["1", String(repeating: "large", count: 5_000)] {
            try verify(.notAStore) { path in
                try makeLMDB(path) { environment, transaction in
                    let main = try #require(try environment.openDatabases([(nil, .housekeeping)], in: transaction)[0])
                    try Array("a key".utf8).withUnsafeBytes { key in
                        _ = try Array(value.utf8).withUnsafeBytes { try transaction.put(main, key: key, value: $0) }
                    }
                }
            }
        }
        try verify(.notAStore) { path in
            try makeLMDB(path) { environment, transaction in
                _ = try environment.openDatabases([("a database", .records)], in: transaction)
            }
        }
    }

    @Test func aNewerFormat() throws {
        try verify(.newerFormat) { path in
            try makeStore(path) { header in
                header[8] = 2
                sealed(&header)
            }
        }
        try verify(.newerFormat) { path in
            try makeStore(path) { header in
                header[12] = 1
                sealed(&header)
            }
        }
        // A longer header, as a later format may have.
        try verify(.newerFormat) { path in
            try makeStore(path) { header in
                header[8] = 2
                sealed(&header)
                header += [1, 2, 3, 4]
            }
        }
        // LMDB's own version.
        try verify(.newerFormat) { path in
            try makeStore(path) { _ in }
            for page in [0, 4_096] { try overwrite(path, page + 20, with: [2, 0, 0, 0]) }
        }
    }

    @Test func aDamagedHeader() throws {
        for offset in [9, 20, 36, 39] {
            try verify(.damaged) { path in try makeStore(path) { $0[offset] ^= 0x10 } }
        }
        try verify(.damaged) { path in try makeStore(path) { $0 = $0.dropLast() } }
        try verify(.notAStore) { path in try makeStore(path) { $0[0] ^= 0x10 } }
    }

    @Test func aDamagedFile() throws {
        // The second meta page.
        try verify(.damaged) { path in
            try makeStore(path) { _ in }
            try overwrite(path, 4_096 + 16, with: [0, 0, 0, 0])
        }
        // Cut behind the meta pages.
        try verify(.damaged) { path in
            try makeStore(path) { _ in }
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/data.mdb"))
            try handle.truncate(atOffset: 8_192)
            try handle.close()
        }
        // Cut in the middle.
        try verify(.damaged) { path in
            try makeStore(path) { _ in }
            let size = try #require(
                try FileManager.default.attributesOfItem(atPath: path + "/data.mdb")[.size] as? Int)
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/data.mdb"))
            try handle.truncate(atOffset: UInt64(size - 4_096))
            try handle.close()
        }
    }

    private func overwrite(_ path: String, _ offset: Int, with bytes: [UInt8]) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/data.mdb"))
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    @Test func aDirectoryWithOtherFiles() throws {
        try withTemporaryFolder { folder in
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/a letter.txt"))
            let before = try contents(of: folder)
            #expect(code(failure(of: { try Store.open(folder, Storage.Note.self) })) == .notAStore)
            #expect(try contents(of: folder) == before)
            // A left-over lock file is not another file, and neither is nothing.
            let empty = folder + "/empty.roost"
            try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: empty + "/lock.mdb"))
            let store = try Store.open(empty, Storage.Note.self)
            try store.close()
        }
    }

    @Test func nothingAtThePath() throws {
        try withTemporaryFolder { (folder) throws in
            let readOnly = Store.Options(durability: .unsafe, isReadOnly: true)
            let missing = failure(of: { try Store.open(folder + "/S.roost", options: readOnly, Storage.Note.self) })
            #expect(code(missing) == .notFound)
            #expect(code(failure(of: { try Store.open(folder + "/no/S.roost", Storage.Note.self) })) == .notFound)
            #expect(try contents(of: folder).isEmpty)
            let web = URL(string: "https://example.org/S.roost")
            #expect(code(failure(of: { try Store.open(at: try #require(web)) })) == .notFound)
        }
    }

    /// A store that was never written to after its creation, or only to be emptied, opens as what it is.
    @Test func emptyStoresAreStores() throws {
        try withTemporaryFolder { folder in
            for entities in [[], [Storage.Note.self]] as [[any Entity.Type]] {
                let url = URL(fileURLWithPath: folder + "/\(entities.count).roost")
                for _ in 0..<2 { try Store.open(at: url, options: Store.fast, entities: entities).close() }
            }
        }
    }

    /// Opening a pipe waits for somebody to write into it, and a store must not.
    @Test func aPipeInTheDataFilesPlaceDoesNotHang() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try #require(mkfifo(path + "/data.mdb", 0o644) == 0)
            for readOnly in [false, true] {
                let options = Store.Options(durability: .unsafe, isReadOnly: readOnly)
                let error = failure(of: { try Store.open(path, options: options, Storage.Note.self) })
                #expect(code(error) == .notAStore, "\(error as Any)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["data.mdb"])
        }
    }

    /// A data file that cannot be reached is not one that is missing.
    @Test func whatCannotBeReachedIsNotReportedAsMissing() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: path + "/data.mdb", withDestinationPath: path + "/data.mdb")
            for readOnly in [false, true] {
                let options = Store.Options(durability: .unsafe, isReadOnly: readOnly)
                let error = failure(of: { try Store.open(path, options: options, Storage.Note.self) })
                #expect(code(error) == .system, "\(error as Any)")
            }
        }
    }
}
