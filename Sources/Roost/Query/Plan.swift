// SPDX-License-Identifier: Apache-2.0

/// How one fetch is carried out: where the candidates come from, what is still tested, and how they get their order.
struct Plan: Sendable {
    enum Source: Sendable {
        /// No object can match.
        case nothing
        /// The records with these keys, which ascend.
        case lookup(keys: [[UInt8]])
        /// Records in ID order.
        case table(range: KeyRange)
        /// Index entries in key order, over ranges that ascend and do not overlap.
        case index(StoredIndex, ranges: [KeyRange])
    }

    var source: Source
    /// Against the keys' order.
    var isReversed = false
    /// What the source does not guarantee, in the order in which it must be evaluated.
    var residual: [Filter] = []
    /// Whether candidates come in the requested order.
    var isOrdered: Bool
    /// Records or entries that the source is expected to yield.
    var estimatedRows: Int
    /// The planner's unit is a nanosecond, very roughly.
    var estimatedCost: Double
}

extension Execution {
    /// The plan in words.
    func describe() -> String {
        var parts: [String] = []
        let (limit, offset, residual) = (request.limit, request.offset, plan.residual)
        switch plan.source {
        case .nothing: return limit == 0 ? "nothing: the limit is 0" : "nothing: the predicate excludes every object"
        case .lookup(let keys):
            parts.append("lookup of \(keys.count) \(keys.count == 1 ? "ID" : "IDs") in \(entity.name)")
        case .table(let range):
            parts.append(range == .all ? "table scan of \(entity.name)" : "range of IDs in \(entity.name)")
        case .index(let index, let ranges):
            let bounded = ranges != [.all]
            parts.append("index scan \(index.name)")
            if bounded { parts.append(ranges.count == 1 ? "in a range" : "in \(ranges.count) ranges") }
        }
        if plan.isReversed { parts.append("backwards") }
        if !residual.isEmpty {
            let onObjects = residual.contains { filter in filter.needsObject }
            parts.append(onObjects ? "filter on decoded objects" : "filter on records")
        }
        if !plan.isOrdered { parts.append(limit == nil ? "sort in memory" : "keep the first \(offset + (limit ?? 0))") }
        if let limit { parts.append(offset > 0 ? "offset \(offset), limit \(limit)" : "limit \(limit)") }
        return parts.joined(separator: ", ")
    }
}

extension Filter {
    var needsObject: Bool {
        switch self {
        case .object: true
        case .not(let filter): filter.needsObject
        case .and(let filters), .or(let filters): filters.contains(where: \.needsObject)
        default: false
        }
    }
}
