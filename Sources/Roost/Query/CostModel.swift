// SPDX-License-Identifier: Apache-2.0

/// What the steps of a plan cost, in nanoseconds of a warm store: they only need to be right relative to each other.
///
/// The rows of the benchmark they come from, at a million items, are named beside them; the figures are rounded up to what
/// a busy machine shows, and lean towards the scan, whose cost is certain.
enum CostModel {
    /// A record passed by a scan of the table: `scan_all` without decoding, `filter_scan_count`.
    static let scannedRecord = 50.0
    /// A record found by its key: `get_random`.
    static let lookup = 700.0
    /// An entry passed by a scan of an index.
    static let entry = 60.0
    /// The start of another range: a descent of the index, as of a look-up.
    static let seek = 700.0
    /// A row's part in sorting, its key included: `sort in memory` of a few thousand rows.
    static let sortedRow = 150.0
    /// A decoded object's test by Foundation's evaluation.
    static let objectTest = 500.0

    /// Candidates expected to be tested for one that passes. Rather many: where an index gives the order and needs no test,
    /// what it reads is certain, and a scan that tests must promise more than a tie to be preferred.
    static let testsPerRow = 20

    /// Index entries that are always worth counting to estimate a range.
    static let smallestProbe = 200
    /// Of more ranges than this only so many, evenly spread, are counted.
    static let sampledRanges = 64

    /// Beyond so many candidates of an index a scan of the table is cheaper, so that they are counted no further. That costs
    /// at most a twelfth of the scan.
    static func decisiveCandidates(in total: Int) -> Int {
        max(smallestProbe, Int(Double(total) * scannedRecord / (entry + lookup)))
    }

    /// More descents than this cost more than a scan of the table: that many look-ups, or ranges, are not even made. In a
    /// small table a few always are.
    static func affordableDescents(in total: Int) -> Int {
        max(sampledRanges, Int(Double(total) * scannedRecord / seek))
    }
}
