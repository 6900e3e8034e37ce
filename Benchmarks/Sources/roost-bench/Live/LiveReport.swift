// SPDX-License-Identifier: Apache-2.0

import Foundation

extension LiveBench {
    /// The table for people. Rows above their bar look like the others, but for the mark.
    var textReport: String {
        let machine = Machine.current
        var table = [["row", "figure", "unit", "bar", "", "and"]]
        for figure in figures {
            let details = figure.details.map { "\($0.name) \(number($0.value))" }.joined(separator: ", ")
            table.append([
                figure.row, number(figure.value), figure.unit, figure.bar.map(number) ?? "–",
                figure.isMissed ? "MISSED" : figure.bar == nil ? "" : "met", details,
            ])
        }
        let head = "N = \(arguments.count), live; Swift \(machine.swift), \(machine.cores) cores, no fsync"
        let smoke = isSmoke ? ["A small table: good for a look, not for the bars."] : []
        return ([head, ""] + layOut(table, textColumns: [0, 2, 4, 5]) + smoke + notes).joined(separator: "\n")
    }

    var jsonReport: Data {
        get throws {
            struct Report: Encodable {
                var machine = Machine.current
                var count: Int
                var live: [LiveFigure]
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(Report(count: arguments.count, live: figures))
        }
    }

    private func number(_ value: Double) -> String {
        if value == value.rounded(), abs(value) < 1e9 { return "\(Int(value))" }
        return String(format: abs(value) < 0.1 ? "%.4f" : abs(value) < 10 ? "%.2f" : "%.1f", value)
    }
}
