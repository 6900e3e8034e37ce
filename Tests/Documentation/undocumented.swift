// SPDX-License-Identifier: Apache-2.0

import Foundation

// Lists the public symbols that have no documentation, by the compiler's symbol graphs, which know what a conformance
// inherits. `Tests/Documentation/run` calls it.
// Usage: swift undocumented.swift GRAPH …

struct Graph: Decodable {
    struct Symbol: Decodable {
        struct Location: Decodable {
            struct Position: Decodable { let line: Int }
            let uri: String
            let position: Position
        }
        struct Comment: Decodable {}
        struct Kind: Decodable { let identifier: String }

        let kind: Kind
        let pathComponents: [String]
        let docComment: Comment?
        let location: Location?
    }
    let symbols: [Symbol]
}

var missing: Set<String> = []
for path in CommandLine.arguments.dropFirst() {
    let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    for symbol in graph.symbols where symbol.docComment == nil && symbol.kind.identifier != "swift.extension" {
        let place = symbol.location.map { "\($0.uri):\($0.position.line + 1): " } ?? ""
        missing.insert("\(place)\(symbol.pathComponents.joined(separator: ".")) has no documentation")
    }
}
for line in missing.sorted() { print(line) }
exit(missing.isEmpty ? 0 : 1)
