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

    /// One module calls C (HAZARDS.md).
    @Test func onlyRoostLMDBImportsTheCModule() throws {
        for source in try sources() where source.text.contains("import CRoostLMDB") {
            #expect(source.path.hasPrefix("RoostLMDB/"), "\(source.path)")
        }
    }
}
