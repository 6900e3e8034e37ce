// SPDX-License-Identifier: Apache-2.0

import Foundation
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
}
