// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// What the drafts are expected to read, and what that costs.
extension Planner {
    /// How many entries the ranges hold, counted as far as the answer can matter.
    ///
    /// An ordered source with a limit is left after so many candidates; if nothing is tested any more, it is not counted at
    /// all, since counting would cost as much as the fetch. Of very many ranges some are counted for all.
    func count(
        _ database: Database, _ ranges: [KeyRange], _ total: Int, ordered: Bool, tests: Bool
    ) throws -> Int {
        var most = CostModel.decisiveCandidates(in: total)
        if ordered, let limit = request.limit {
            if !tests { return total }
            most = min(most, (limit + request.offset) * CostModel.testsPerRow)
        }
        // Where the entries are only counted, counting them is the answer: it is done once, and nothing is cheaper.
        if purpose == .count, !tests { return total / 10 }
        let sampled = CostModel.sampledRanges
        guard ranges.count > sampled else {
            let counted = try RangeWalker(database: database, ranges: ranges).count(in: transaction, upTo: most)
            return counted >= most ? max(counted, total / 10) : counted
        }
        let sample = (0..<sampled).map { ranges[$0 * ranges.count / sampled] }
        let counted = try RangeWalker(database: database, ranges: sample).count(in: transaction, upTo: most)
        if counted >= most { return max(counted, total / 10) }
        return min(total, Int((Double(counted) * Double(ranges.count) / Double(sampled)).rounded(.up)))
    }

    struct Estimate {
        let rows: Int
        let cost: Double
    }

    /// No plan finds more matches than another has candidates.
    static func matches(_ drafts: [Draft]) -> Int {
        drafts.reduce(Int.max) { min($0, $1.candidates) }
    }

    /// `matches` is how many rows are expected to pass at most: an ordered scan finds them spread over its candidates.
    func estimate(_ draft: Draft, _ matches: Int) -> Estimate {
        let candidates = Double(draft.candidates)
        let tests = !draft.residual.isEmpty
        let offset = Double(request.offset)
        let end = request.limit.map { Double($0) + offset } ?? .infinity
        var visited = candidates
        if draft.isOrdered, end < .infinity {
            let spread = tests ? max(Double(CostModel.testsPerRow), candidates / Double(max(1, matches))) : 1
            visited = min(visited, end * spread)
        }
        // Records that are looked up: none where the entries say it all, and none that the offset leaves out.
        var lookups = visited
        if !tests {
            if purpose != .objects && (draft.isOrdered || order.isByKey(of: entity)) {
                lookups = 0
            } else if draft.isOrdered || order.isByKey(of: entity) {
                lookups = max(0, min(visited, end) - offset)
            }
        }
        var cost: Double
        switch draft.source {
        case .nothing: return Estimate(rows: 0, cost: 0)
        case .table: cost = visited * CostModel.scannedRecord
        // Only a look-up tells whether there is an object.
        case .lookup: cost = visited * CostModel.lookup
        case .index(_, let ranges):
            cost = visited * CostModel.entry + lookups * CostModel.lookup
            // Ranges without an entry cost a descent, too.
            let walked = visited < candidates ? visited / candidates : 1
            cost += walked * Double(max(0, ranges.count - 1)) * CostModel.seek
        }
        if draft.residual.contains(where: \.needsObject) { cost += visited * CostModel.objectTest }
        // What the tests leave out is not sorted.
        if !draft.isOrdered { cost += min(visited, Double(matches)) * CostModel.sortedRow }
        return Estimate(rows: Int(visited), cost: cost)
    }
}
