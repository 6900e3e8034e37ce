// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// How a fetch was carried out.
///
/// Printed, it reads
/// ```
/// index scan City(country, population), in a range, backwards, limit 5
///   expected 5 rows; visited 5 index entries, read 5 records, gave 5 rows
/// ```
public struct Explanation: Sendable, CustomStringConvertible {
    /// The plan in words.
    public let plan: String
    /// Rows that the planner expected to test.
    public let estimatedRows: Int
    /// Index entries that cursors stood on.
    public let entriesVisited: Int
    /// Records that were looked up or passed by a scan, also those that the predicate then excluded.
    public let recordsRead: Int
    /// Rows of the result.
    public let rows: Int

    init(_ execution: Execution, rows: Int, counters: Counters) {
        plan = execution.describe()
        estimatedRows = execution.plan.estimatedRows
        entriesVisited = counters.entriesVisited
        recordsRead = counters.recordsRead
        self.rows = rows
    }

    public var description: String {
        """
        \(plan)
          expected \(estimatedRows) rows; visited \(entriesVisited) index entries, read \(recordsRead) records, \
        gave \(rows) rows
        """
    }
}
