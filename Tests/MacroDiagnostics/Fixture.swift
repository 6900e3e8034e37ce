// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A source file with the messages it must get written under the lines they belong to.
///
/// A comment line with a caret expects a message about the line of code above it, in the caret's column:
///
///     var tags: Set<String>
///     //        ^ error: Roost cannot store a Set: use an array
///
/// The first line is left for the import of Roost, which the tests put at its start. All fixtures are files of one
/// module, so their types need names of their own.
struct Fixture: Sendable, CustomStringConvertible {
    let description: String
    let source: String

    init(_ description: String, _ source: String) {
        self.description = description
        self.source = source
    }

    /// The name of the file: no spaces, and nothing that a shell or the compiler could read as more than a name.
    var fileName: String {
        description.map { $0.isLetter || $0.isNumber ? String($0) : "-" }.joined() + ".swift"
    }

    /// What the file expects, in the form the compiler prints it: `line:column: severity: message`.
    ///
    /// Comment lines without a caret that follow one with a caret go on with its message.
    var expectedMessages: [String] {
        var expected: [String] = []
        var codeLine = 0
        for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let comment = line.drop { $0 == " " }
            guard comment.hasPrefix("//") else {
                codeLine = index + 1
                continue
            }
            let text = comment.dropFirst(2).drop { $0 == " " }
            if text.hasPrefix("^") {
                let column = line.distance(from: line.startIndex, to: text.startIndex) + 1
                expected.append("\(codeLine):\(column): \(text.dropFirst(2))")
            } else if let last = expected.popLast() {
                expected.append(last + " " + text)
            }
        }
        return expected.sorted()
    }

    /// The messages about this file in what the compiler printed, without the lines of source around them.
    func messages(in output: String) -> [String] {
        output.split(separator: "\n")
            .compactMap { line in
                guard let name = line.range(of: "/" + fileName + ":") else { return nil }
                let message = line[name.upperBound...]
                guard message.first?.isNumber == true else { return nil }
                // Compilers name the macro at the end of an error, and not all in the same way.
                return String(message.range(of: " (from macro ").map { message[..<$0.lowerBound] } ?? message)
            }
            .sorted()
    }
}
