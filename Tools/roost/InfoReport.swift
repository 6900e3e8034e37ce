// SPDX-License-Identifier: Apache-2.0

import Roost

/// `roost info`.
struct InfoReport {
    let request: Command.Info

    init(_ request: Command.Info) { self.request = request }

    func write(to output: Output) throws {
        let summary = try StoreInspector(path: request.path).summary()
        if request.asJSON {
            try output.write(summary.json.indentedText + "\n")
        } else {
            try write(summary, to: output)
        }
    }

    private func write(_ summary: StoreSummary, to output: Output) throws(Output.Failure) {
        let history = summary.history.map { "commits \($0.lowerBound) to \($0.upperBound)" } ?? "none"
        let readers =
            "other processes hold \(summary.readerSlots.used) of \(summary.readerSlots.limit) slots; "
            + (summary.oldestReaderLag.map { "the oldest reader lags \($0) commits behind" } ?? "nobody reads")
        let lines = [
            ("store", CellText.escaped(summary.path)), ("store ID", summary.storeID.uuidString),
            ("format", "\(summary.formatVersion)"), ("Unicode", CellText.escaped(summary.unicodeVersion)),
            ("last commit", "\(summary.sequence)"), ("history", history),
            ("page size", Self.bytes(summary.pageSize)), ("file size", Self.bytes(summary.fileSize)),
            ("used", Self.bytes(summary.usedBytes)), ("map size", Self.bytes(summary.mapSize)),
            ("readers", readers),
        ]
        for (name, value) in lines {
            try output.write(name + String(repeating: " ", count: 13 - name.count) + value + "\n")
        }
        for entity in summary.entities { try write(entity, to: output) }
    }

    private func write(_ entity: StoreSummary.Entity, to output: Output) throws(Output.Failure) {
        let objects = entity.records.entries == 1 ? "object" : "objects"
        try output.write(
            "\n\(CellText.escaped(entity.name)) (type \(entity.number)): \(entity.records.entries) \(objects), "
                + "\(entity.records.pages) pages, depth \(entity.records.depth)\n")
        var fields = Table(["field", "type", "references"], isShortened: false, indent: "  ", to: output)
        for field in entity.fields {
            try fields.add([(field.name, false), (field.type, false), (field.references ?? "", false)])
        }
        try fields.finish()
        for layout in entity.layouts {
            let mark = layout.isCurrent ? " (current)" : ""
            let names = CellText.escaped(layout.fields.joined(separator: ", "))
            try output.write("  layout \(layout.number)\(mark): \(names)\n")
        }
        guard !entity.indexes.isEmpty else { return }
        try output.write("\n")
        let titles = ["index", "entries", "pages", "depth", "cut keys"]
        var indexes = Table(titles, isShortened: false, indent: "  ", to: output)
        for index in entity.indexes {
            let numbers = ["\(index.tree.entries)", "\(index.tree.pages)", "\(index.tree.depth)", "\(index.cutKeys)"]
            try indexes.add([(index.name, false)] + numbers.map { ($0, true) })
        }
        try indexes.finish()
    }

    /// `1 TiB`, `12.5 MiB (13107200 bytes)`: round sizes in one unit, others exactly as well.
    private static func bytes(_ count: Int) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB"]
        var size = Double(count)
        var unit: String?
        for next in units where size >= 1_024 {
            size /= 1_024
            unit = next
        }
        guard let unit else { return "\(count) bytes" }
        if size.rounded() == size { return "\(Int(size)) \(unit)" }
        return "\((size * 10).rounded() / 10) \(unit) (\(count) bytes)"
    }
}
