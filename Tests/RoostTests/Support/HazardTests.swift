// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// CONTRIBUTING.md's table of LMDB hazards has what the code cites, and names suites that exist.
@Suite struct HazardTests {
    private struct Row {
        let number: Int
        let suites: [String]
    }

    private func rows() throws -> [Row] {
        let text = try String(contentsOf: LayerTests.root.appendingPathComponent("CONTRIBUTING.md"), encoding: .utf8)
        return text.matches(of: /\n\| (\d+) \|[^\n]*\| ([^|\n]*) \|(?=\n)/).compactMap { match in
            Int(match.1).map { Row(number: $0, suites: match.2.matches(of: /`(\w+)`/).map { String($0.1) }) }
        }
    }

    private func swiftFiles(_ folders: [String]) throws -> [(path: String, text: String)] {
        try folders.flatMap { folder in
            let url = LayerTests.root.appendingPathComponent(folder)
            return try FileManager.default.subpathsOfDirectory(atPath: url.path).filter { $0.hasSuffix(".swift") }
                .map { ("\(folder)/\($0)", try String(contentsOf: url.appendingPathComponent($0), encoding: .utf8)) }
        }
    }

    @Test func everyHazardThatIsCitedIsInTheTable() throws {
        let numbers = try rows().map(\.number)
        #expect(numbers.count > 30)
        #expect(numbers == Set(numbers).sorted())
        var cited: Set<Int> = []
        for file in try swiftFiles(["Sources", "Tests", "Tools"]) where !file.path.hasSuffix("/HazardTests.swift") {
            // Of a comment that goes on in the next line, too.
            let text = file.text.replacing(/\n\s*\/\/+/, with: "")
            for match in text.matches(of: /[Hh]azards? (\d+(?:(?:,| and|, and) \d+)*)/) {
                for number in match.1.matches(of: /\d+/).compactMap({ Int($0.0) }) {
                    cited.insert(number)
                    #expect(numbers.contains(number), "\(file.path) cites hazard \(number)")
                }
            }
        }
        #expect(Set(numbers) == cited, "rows that nothing cites")
    }

    @Test func everyRowsSuitesExist() throws {
        let tests = try swiftFiles(["Tests"])
        for row in try rows() {
            #expect(!row.suites.isEmpty, "hazard \(row.number)")
            for suite in row.suites {
                #expect(tests.contains { $0.text.contains("struct \(suite)") }, "hazard \(row.number): \(suite)")
            }
        }
    }
}
