// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Who may name whom: data flows down the folders of `Sources/Roost` in the order of CONTRIBUTING.md's table, and a file
/// names only types of its own folder and of those above it. Folders and no modules, which would cost inlining.
@Suite struct LayerTests {
    /// What is not so yet, or cannot be. The list may only become shorter.
    static let exceptions: Set<String> = [
        // An entity's requirements are what its records are written and read with, and the macro's code names them.
        "Entities/Entity.swift names RecordDecoder of Records",
        "Entities/Entity.swift names RecordEncoder of Records",
        "Entities/Entity.swift names RecordShape of Records",
        // A handler of the user's is called on a thread of its own.
        "Errors/Diagnostics.swift names SerialThread of Concurrency",
    ]

    struct Source {
        let room: String
        /// Below `Sources/Roost`.
        let path: String
        /// Without comments and texts.
        let code: String
    }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func rooms() throws -> [String] {
        let text = try String(contentsOf: Self.root.appendingPathComponent("CONTRIBUTING.md"), encoding: .utf8)
        return text.matches(of: /\| `Sources\/Roost\/(\w+)` \|/).map { String($0.1) }
    }

    private func sources() throws -> [Source] {
        let folder = Self.root.appendingPathComponent("Sources/Roost")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }.map {
            let text = try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
            return Source(room: String($0.prefix { $0 != "/" }), path: $0, code: Self.code(text))
        }
    }

    static func code(_ text: String) -> String {
        text.replacing(/(?s)\/\*.*?\*\//, with: "").replacing(/(?s)"""(\\.|[^\\])*?"""/, with: "\"\"")
            .replacing(/"(\\.|[^"\\\n])*"/, with: "\"\"").replacing(/\/\/[^\n]*/, with: "")
    }

    /// The types that a file declares for others, nested ones left out: who names them names the outer one as well.
    static func declaredTypes(_ code: String) -> [String] {
        let declaration = /^(?<before>[^\s\/].*?)??\b(?:struct|class|enum|actor|protocol|typealias) (?<name>[A-Z]\w*)/
            .anchorsMatchLineEndings()
        return code.matches(of: declaration).filter { match in
            let before = match.before ?? ""
            return !before.contains("private") && !before.contains("{")
        }.map { String($0.name) }
    }

    @Test func everyFolderIsInTheContributorsTable() throws {
        #expect(Set(try sources().map(\.room)) == Set(try rooms()))
    }

    @Test func noFolderNamesATypeOfAFolderBelowIt() throws {
        let (rooms, sources) = (try rooms(), try sources())
        var homes: [String: Int] = [:]
        for source in sources {
            let home = try #require(rooms.firstIndex(of: source.room))
            for type in Self.declaredTypes(source.code) { homes[type] = min(home, homes[type] ?? home) }
        }
        #expect(homes.count > 80)
        var found: Set<String> = []
        for source in sources {
            let home = try #require(rooms.firstIndex(of: source.room))
            for name in Set(source.code.matches(of: /\b[A-Z]\w*/).map { String($0.0) }) {
                guard let other = homes[name], other > home else { continue }
                found.insert("\(source.path) names \(name) of \(rooms[other])")
            }
        }
        for line in found.subtracting(Self.exceptions).sorted() {
            Issue.record("\(line), which lies below it: see CONTRIBUTING.md")
        }
        for line in Self.exceptions.subtracting(found).sorted() {
            Issue.record("No longer so, take it from the list: \(line)")
        }
    }

    /// The check itself: what it takes for a declaration, and what it leaves out.
    @Test func theCheckReadsDeclarationsAndSkipsCommentsAndTexts() {
        let text = """
            // Engine in a comment
            let text = "Store \\"x\\" Query" /* Bus */
            @usableFromInline
            package final class Plan: Sendable {
                struct Nested {}
            }
            public indirect enum Kind { case a }
            private struct Hidden {}
            extension Plan { enum Inner {} }
            @inlinable public struct Row<T> {}
            typealias Key = [UInt8]
            """
        let code = Self.code(text)
        for word in ["Engine", "Store", "Query", "Bus"] { #expect(!code.contains(word)) }
        #expect(Self.declaredTypes(code) == ["Plan", "Kind", "Row", "Key"])
    }
}
