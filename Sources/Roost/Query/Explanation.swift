// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// How a fetch was carried out.
///
/// Printed, it reads
/// ```
/// index scan City(country, population), in a range, backwards, limit 5
///   estimated: 5 rows to test; counted: 5 index entries visited, 5 records read, 5 rows given
/// ```
/// The estimate is the planner's, before the fetch; the rest was counted while it ran.
public struct Explanation: Sendable, CustomStringConvertible {
    /// The plan in words.
    public let plan: String
    /// How many rows the planner expected to test: an estimate, made before the fetch, by which the plan was chosen.
    public let estimatedRows: Int
    /// Index entries that cursors stood on: counted. What the planner itself counted before is not in it.
    public let entriesVisited: Int
    /// Records that were looked up or passed by a scan, also those that the predicate then excluded: counted.
    public let recordsRead: Int
    /// Rows of the result: counted.
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
          estimated: \(estimatedRows) rows to test; counted: \(entriesVisited) index entries visited, \
        \(recordsRead) records read, \(rows) rows given
        """
    }
}
