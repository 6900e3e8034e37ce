// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

// Hazard 30.
struct DiskFullTests {
    private func run(_ program: String, _ arguments: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Where the system writes less than it is asked to, LMDB says "I/O error".
    @Test func fullFileSystemInMemoryIsADiskThatIsFull() throws {
        let place = TemporaryPlace()
        try FileManager.default.createDirectory(at: place.url, withIntermediateDirectories: true)
        guard run("/bin/mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place.url.path) else {
            print("DiskFullTests: skipped, as this user may not mount")
            return
        }
        defer { _ = run("/bin/umount", place.url.path) }
        let url = place.url.appendingPathComponent("World.roost")
        let store = try Store.open(at: url, options: .init(durability: .unsafe), entities: Town.self, Land.self)
        defer { try? store.close() }
        var stored = 0
        let error = #expect(throws: StoreError.self) {
            while true {
                try store.write { tx in
                    for id in stored..<stored + 500 {
                        try tx.insert(
                            Town(id: id, name: String(repeating: "n", count: 200), land: Ref("FR"), population: id))
                    }
                }
                stored += 500
            }
        }
        #expect(error?.code == .diskFull)
        #expect(stored > 0)
        #expect(try store.count(FetchDescriptor<Town>()) == stored)
        #expect(try store.get(Town.self, id: stored) == nil)
    }

    @Test func aWalkWhoseIDsFindNoRoomIsAnErrorBeforeItBegins() throws {
        let place = TemporaryPlace()
        try FileManager.default.createDirectory(at: place.url, withIntermediateDirectories: true)
        guard run("/bin/mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place.url.path) else {
            print("DiskFullTests: skipped, as this user may not mount")
            return
        }
        defer { _ = run("/bin/umount", place.url.path) }
        let url = place.url.appendingPathComponent("World.roost")
        let store = try Store.open(at: url, options: .init(durability: .unsafe), entities: Sack.self)
        defer { try? store.close() }
        try store.write { tx in try tx.insert(contentsOf: GatheredKeysTests.sacks) }
        let junk = place.url.appendingPathComponent("junk").path
        fill(junk)
        var met = 0
        try store.write { (tx) throws in
            let error = failure(of: { try tx.forEach(FetchDescriptor<Sack>()) { _ in met += 1 } }) as? StoreError
            #expect(error?.code == .diskFull && error?.place.path == url.path)
            #expect(code(failure(of: { try tx.delete(FetchDescriptor<Sack>()) })) == .diskFull)
            #expect(try tx.count(FetchDescriptor<Sack>()) == GatheredKeysTests.sacks.count)
        }
        #expect(met == 0)
        #expect(unlink(junk) == 0)
        #expect(try store.write { tx in try tx.delete(FetchDescriptor<Sack>()) } == GatheredKeysTests.sacks.count)
    }

    /// Takes all the room that is left.
    private func fill(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        let junk = [UInt8](repeating: 7, count: 4_096)
        while junk.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) > 0 {}
        close(descriptor)
    }

    /// LMDB's lock file was sparse: the first byte written through its map ended the process.
    @Test func openingOnAFullDiskIsAnError() throws {
        let place = TemporaryPlace()
        try FileManager.default.createDirectory(at: place.url, withIntermediateDirectories: true)
        guard run("/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place.url.path) else {
            print("DiskFullTests: skipped, as this user may not mount")
            return
        }
        defer { _ = run("/bin/umount", place.url.path) }
        fill(place.url.appendingPathComponent("junk").path)
        let error = #expect(throws: StoreError.self) {
            try Store.open(at: place.url.appendingPathComponent("World.roost"), entities: Town.self)
        }
        #expect(error?.code == .diskFull)
    }
}
