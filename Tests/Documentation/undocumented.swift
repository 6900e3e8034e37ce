// SPDX-License-Identifier: Apache-2.0

import Foundation

// Lists the public symbols that have no documentation, or one that speaks of what is inside, by the compiler's symbol
// graphs, which know what a conformance inherits. `Tests/Documentation/run` calls it.
// Usage: swift undocumented.swift GRAPH …

struct Graph: Decodable {
    struct Symbol: Decodable {
        struct Location: Decodable {
            struct Position: Decodable { let line: Int }
            let uri: String
            let position: Position
        }
        struct Comment: Decodable {
            struct Line: Decodable { let text: String }
            let lines: [Line]
        }
        struct Kind: Decodable { let identifier: String }

        let kind: Kind
        let pathComponents: [String]
        let docComment: Comment?
        let location: Location?
    }
    let symbols: [Symbol]
}

var findings: Set<String> = []
for path in CommandLine.arguments.dropFirst() {
    let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    for symbol in graph.symbols where symbol.kind.identifier != "swift.extension" {
        let place = symbol.location.map { "\($0.uri):\($0.position.line + 1): " } ?? ""
        let name = place + symbol.pathComponents.joined(separator: ".")
        guard let comment = symbol.docComment else {
            findings.insert("\(name) has no documentation")
            continue
        }
        for word in ["hazard", "Mutable state", "BRIEF"] where comment.lines.contains(where: { $0.text.contains(word) })
        {
            findings.insert("\(name) speaks of what is inside: \(word)")
        }
    }
}
for line in findings.sorted() { print(line) }
exit(findings.isEmpty ? 0 : 1)
