// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct SourceTests {
    private func sources() throws -> [(path: String, text: String)] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        return try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".swift") }
            .map { ($0, try String(contentsOf: root.appendingPathComponent($0), encoding: .utf8)) }
    }

    // Hazards 17, 19, 30 and 32: the flags that Roost does without.
    @Test(arguments: [
        "MDB_DUPSORT", "MDB_DUPFIXED", "MDB_INTEGERKEY", "MDB_INTEGERDUP", "MDB_REVERSEKEY", "MDB_REVERSEDUP",
        "MDB_WRITEMAP", "MDB_NOLOCK", "MDB_MAPASYNC", "mdb_set_compare", "mdb_set_dupsort",
    ])
    func theFlagIsNotUsed(_ flag: String) throws {
        let sources = try sources()
        #expect(sources.count > 50)
        for source in sources { #expect(!source.text.contains(flag), "\(source.path) has \(flag)") }
    }

    /// `FileHandle.write` ends the program when its stream is closed, full or gone (hazard 40).
    @Test func noWriteToAFileHandleThatMayTrap() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        for folder in ["Sources", "Tools", "Examples", "Benchmarks/Sources", "Tests/Helper"] {
            let folder = root.appendingPathComponent(folder)
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift")
            {
                let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
                #expect(
                    !text.contains(/FileHandle[^\n]*\.write\((?!contentsOf:)/), "\(folder.lastPathComponent)/\(path)")
            }
        }
    }

    /// One module calls C.
    @Test func onlyRoostLMDBImportsTheCModule() throws {
        for source in try sources() where source.text.contains("import CRoostLMDB") {
            #expect(source.path.hasPrefix("RoostLMDB/"), "\(source.path)")
        }
    }
}
