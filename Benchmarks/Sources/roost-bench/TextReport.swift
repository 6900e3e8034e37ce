// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The table for people. Rows that Roost loses look like the others, but for the mark.
func textReport(_ results: Results) -> String {
    var lines: [String] = []
    let machine = Machine.current
    lines.append(
        "N = \(results.count), rounds: \(results.rounds), medians; LMDB \(machine.lmdb), SQLite \(machine.sqlite), "
            + "Swift \(machine.swift), \(machine.cores) cores")
    lines.append("ns per unit; x = multiple of LMDB in C in this run")
    lines.append("")
    lines += layOut(
        [["op", "unit", "LMDB ns", "SQLite x", "Roost ns", "Roost x", "bar", "opening", ""]]
            + results.operations.map { row($0, results) },
        textColumns: [0, 1, 8])
    lines += sizes(results)
    lines += remarks(results)
    return lines.joined(separator: "\n")
}

private func row(_ operation: Operation, _ results: Results) -> [String] {
    let ratio = results.ratio(operation, .roost)
    var mark = ""
    if let ratio {
        if let bar = operation.openingBar, ratio > bar {
            mark = "! above the opening bar"
        } else if let bar = operation.bar, ratio > bar {
            mark = "! above the bar"
        }
    }
    func nanoseconds(_ kind: PeerKind) -> String {
        results.measurements[operation]?[kind].map { String(format: "%.1f", $0.median) } ?? "–"
    }
    func multiple(_ value: Double?) -> String {
        value.map { String(format: "%.2f", $0) } ?? "–"
    }
    return [
        operation.rawValue, operation.unit, nanoseconds(.lmdb), multiple(results.ratio(operation, .sqlite)),
        nanoseconds(.roost), multiple(ratio), multiple(operation.bar), multiple(operation.openingBar), mark,
    ]
}

/// Bytes in files and in memory.
private func sizes(_ results: Results) -> [String] {
    var table: [[String]] = [["size"] + results.peers.map(\.rawValue)]
    func add(_ name: String, _ figure: (PeerKind) -> Int?) {
        let cells = results.peers.map(figure)
        if cells.contains(where: { $0 != nil }) {
            table.append([name] + cells.map { $0.map(mebibytes) ?? "–" })
        }
    }
    add("file_size") { results.fileSizes[$0] }
    add("peak_rss") { results.memory[$0]?.peak }
    add("base_rss") { results.memory[$0]?.base }
    return table.count > 1 ? [""] + layOut(table, textColumns: [0]) : []
}

/// What a reader must know who looks at these figures.
private func remarks(_ results: Results) -> [String] {
    var lines: [String] = []
    if results.count != Arguments.fullCount {
        lines.append("The bars are meant for N = \(Arguments.fullCount); with fewer items more lies in the caches.")
    }
    if results.rounds < 3 {
        lines.append("Fewer than 3 rounds: good for a look, not for publication.")
    }
    if results.repeatedRounds > 0 {
        lines.append(
            "Rounds of reads in which the processor was shared: \(results.repeatedRounds) repeated, "
                + "\(results.disturbedRounds) count all the same.")
    }
    for operation in results.operations {
        guard let reference = operation.referenceSQLiteRatio(count: results.count),
            let ratio = results.ratio(operation, .sqlite), abs(ratio / reference - 1) > 0.2
        else { continue }
        lines.append(
            String(
                format: "%@: SQLite took %.2f x LMDB, the reference is %.2f; was the machine quiet?",
                operation.rawValue, ratio, reference))
    }
    return lines.isEmpty ? [] : [""] + lines
}

/// Columns as wide as their widest cell: text to the left, figures to the right.
func layOut(_ table: [[String]], textColumns: Set<Int>) -> [String] {
    let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
    return table.map { cells in
        cells.indices.map { column in
            let padding = String(repeating: " ", count: widths[column] - cells[column].count)
            return textColumns.contains(column) ? cells[column] + padding : padding + cells[column]
        }
        .joined(separator: "  ")
        .trimmingCharacters(in: .whitespaces)
    }
}
