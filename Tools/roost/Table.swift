// SPDX-License-Identifier: Apache-2.0

/// Rows in aligned columns, written while they come: the columns are as wide as the first rows need, and no wider than
/// `widest`. A value that needs more runs over, so that a single one does not make every line as long as itself.
struct Table {
    private struct Cell {
        let text: String
        let alignsRight: Bool
        let width: Int

        init(_ text: String, alignsRight: Bool = false) {
            self.text = text
            self.alignsRight = alignsRight
            width = CellText.width(text, upTo: Table.widest)
        }
    }

    /// Columns of one value on a terminal.
    private static let longest = 40
    private static let widest = 60
    /// How many rows, and bytes of them, are kept back for the widths.
    private static let sampleRows = 1_000
    private static let sampleBytes = 1 << 20

    private let output: Output
    private let titles: [String]
    private let isShortened: Bool
    private let indent: String
    /// Empty once they have been written.
    private var sample: [[Cell]] = []
    private var sampledBytes = 0
    private var widths: [Int] = []
    private var hasBegun = false

    /// `isShortened` is for a terminal; what is piped is whole.
    init(_ titles: [String], isShortened: Bool, indent: String = "", to output: Output) {
        self.titles = titles.map(CellText.escaped)
        self.isShortened = isShortened
        self.indent = indent
        self.output = output
    }

    mutating func add(_ texts: [(text: String, alignsRight: Bool)]) throws(Output.Failure) {
        let row = texts.map { entry in
            Cell(
                isShortened ? CellText.shortened(entry.text, to: Self.longest) : CellText.escaped(entry.text),
                alignsRight: entry.alignsRight)
        }
        if hasBegun { return try write(row) }
        sample.append(row)
        sampledBytes += row.reduce(0) { $0 + $1.text.utf8.count }
        if sample.count >= Self.sampleRows || sampledBytes >= Self.sampleBytes { try begin() }
    }

    mutating func finish() throws(Output.Failure) {
        if !hasBegun { try begin() }
    }

    /// Writes titles, a rule and the rows that were kept back.
    private mutating func begin() throws(Output.Failure) {
        hasBegun = true
        // A column of numbers has its title on the right, too.
        let heads = titles.enumerated().map { column, title in
            Cell(title, alignsRight: sample.contains { $0[column].alignsRight })
        }
        widths = heads.map(\.width)
        for row in sample {
            for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.width) }
        }
        widths = widths.map { min($0, Self.widest) }
        try write(heads)
        try write(widths.map { Cell(String(repeating: "-", count: $0)) })
        for row in sample { try write(row) }
        sample = []
    }

    private func write(_ cells: [Cell]) throws(Output.Failure) {
        var line = indent
        // No spaces where nothing follows.
        let last = cells.lastIndex { !$0.text.isEmpty } ?? 0
        for (column, cell) in cells.prefix(through: last).enumerated() {
            let padding = String(repeating: " ", count: max(0, widths[column] - cell.width))
            if column > 0 { line += "  " }
            if cell.alignsRight {
                line += padding + cell.text
            } else {
                line += column == last ? cell.text : cell.text + padding
            }
        }
        try output.write(line + "\n")
    }
}
