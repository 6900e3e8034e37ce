// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// `roost query`. Rows are written as they are read, so that any number of them passes through.
struct QueryReport {
    let request: Command.Query

    init(_ request: Command.Query) { self.request = request }

    func write(to output: Output) throws {
        let inspector = try StoreInspector(path: request.path, checking: request.query)
        let names = try inspector.fieldNames(of: request.query)
        if request.asJSON {
            try writeJSON(inspector, names, to: output)
        } else {
            try writeTable(inspector, names, to: output)
        }
    }

    private func writeTable(_ inspector: StoreInspector, _ names: [String], to output: Output) throws {
        var table = Table(names, isShortened: output.isTerminal, to: output)
        let explanation = try inspector.forEachRow(request.query) { row in
            try table.add(row.map { ($0.text, $0.isNumber) })
        }
        try table.finish()
        try output.write("(\(explanation.rows) \(explanation.rows == 1 ? "object" : "objects"))\n")
        if request.explains { try output.write("\n\(text(of: explanation))\n") }
    }

    /// One object a line.
    private func writeJSON(_ inspector: StoreInspector, _ names: [String], to output: Output) throws {
        var isFirst = true
        let explanation = try inspector.forEachRow(request.query) { row in
            let object = JSON.object(zip(names, row).map { (name: $0, value: $1.json) })
            try output.write((isFirst ? "[\n" : ",\n") + object.text)
            isFirst = false
        }
        try output.write(isFirst ? "[]\n" : "\n]\n")
        if request.explains {
            // What the standard output got must stay in front of this on a terminal.
            try output.flush()
            let errors = Output(descriptor: STDERR_FILENO)
            try errors.write("\(text(of: explanation))\n")
            try errors.flush()
        }
    }

    /// Several lines, with names from the store in them.
    private func text(of explanation: Explanation) -> String {
        "\(explanation)".split(separator: "\n").map { CellText.escaped(String($0)) }.joined(separator: "\n")
    }
}
