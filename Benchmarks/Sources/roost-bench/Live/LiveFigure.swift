// SPDX-License-Identifier: Apache-2.0

/// One row of the live table.
struct LiveFigure: Encodable {
    var row: String
    var value: Double
    var unit: String
    /// The most that it may be; nil for a row that is only printed.
    var bar: Double?
    /// Whether `--check-bars` fails above the bar. The others are printed as missed.
    var isHeld: Bool { Self.held.contains(row) }
    /// What belongs to it, by name, in the order of the text.
    var details: [Detail] = []

    struct Detail: Encodable {
        var name: String
        var value: Double
    }

    /// The rows that were within their bars when the list was last looked at, with room for a machine that is not quiet. A row
    /// is added as soon as it is, and never taken out.
    private static let held: Set<String> = [
        "crowd_one_each_memory", "crowd_one_each_last_values", "crowd_one_each_cancel_and_close",
        "commit_beside_10000", "fetches_beside_100", "fetches_beside_10000", "value_p99",
        "live_count", "live_count_read", "live_count_grouped", "live_count_grouped_read",
        "live_window_read", "live_window_in_read", "live_window_out_read",
        "fetches_beside_5000_resolvers", "other_process_p50",
    ]

    var isMissed: Bool { bar.map { value > $0 } ?? false }

    mutating func add(_ name: String, _ value: Double) { details.append(Detail(name: name, value: value)) }
}

/// Times of one kind, in nanoseconds.
struct Times {
    private(set) var all: [UInt64] = []
    mutating func add(_ time: UInt64) { all.append(time) }

    /// The value below which this part of them lies.
    func quantile(_ part: Double) -> Double {
        let sorted = all.sorted()
        return sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))])
    }
    var p50: Double { quantile(0.5) }
    var p99: Double { quantile(0.99) }
    var mean: Double { all.isEmpty ? 0 : Double(all.reduce(0, +)) / Double(all.count) }
}

/// The groups of rows, which can be asked for one by one.
enum LiveGroup: String, CaseIterable {
    /// Many observers beside a writer without a pause. First, as later ones would find memory that was used before.
    case crowd
    /// A commit beside observers that it does not touch, and how long a value takes.
    case untouched
    /// Counts, grouped counts and windows over the whole table.
    case maintained
    case resolvers
    case process
    /// An import beside live queries.
    case imports = "import"
}
