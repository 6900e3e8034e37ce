// SPDX-License-Identifier: Apache-2.0

/// Rows in aligned columns.
struct Table {
    struct Cell {
        let text: String
        let alignsRight: Bool
        fileprivate let width: Int

        init(_ text: String, alignsRight: Bool = false) {
            self.text = text
            self.alignsRight = alignsRight
            width = CellText.width(text)
        }
    }

    /// Columns of one value on a terminal.
    private static let longest = 40

    private let titles: [String]
    private let isShortened: Bool
    private var rows: [[Cell]] = []
    private var widths: [Int]

    /// `isShortened` is for a terminal; what is piped is whole.
    init(_ titles: [String], isShortened: Bool) {
        self.titles = titles
        self.isShortened = isShortened
        widths = titles.map { CellText.width($0) }
    }

    mutating func add(_ texts: [(text: String, alignsRight: Bool)]) {
        var row: [Cell] = []
        for (column, entry) in texts.enumerated() {
            let escaped = CellText.escaped(entry.text)
            let cell = Cell(
                isShortened ? CellText.shortened(escaped, to: Self.longest) : escaped, alignsRight: entry.alignsRight)
            widths[column] = max(widths[column], cell.width)
            row.append(cell)
        }
        rows.append(row)
    }

    /// Titles, a rule and the rows, each line behind `indent`.
    func write(to output: Output, indent: String = "") throws(Output.Failure) {
        // A column of numbers has its title on the right, too.
        let heads = titles.enumerated().map { column, title in
            Cell(title, alignsRight: rows.contains { $0[column].alignsRight })
        }
        try output.write(line(heads, indent))
        try output.write(line(widths.map { Cell(String(repeating: "-", count: $0)) }, indent))
        for row in rows { try output.write(line(row, indent)) }
    }

    private func line(_ cells: [Cell], _ indent: String) -> String {
        var line = indent
        // No spaces where nothing follows.
        let last = cells.lastIndex { !$0.text.isEmpty } ?? 0
        for (column, cell) in cells.prefix(through: last).enumerated() {
            let padding = String(repeating: " ", count: widths[column] - cell.width)
            if column > 0 { line += "  " }
            if cell.alignsRight {
                line += padding + cell.text
            } else {
                line += column == last ? cell.text : cell.text + padding
            }
        }
        return line + "\n"
    }
}
