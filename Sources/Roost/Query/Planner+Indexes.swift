// SPDX-License-Identifier: Apache-2.0

/// The ways that lead through an index: which ranges of its entries the constraints leave, and whether they stand in the
/// requested order.
extension Planner {
    /// Nil when the index has nothing to offer.
    func draft(
        _ index: StoredIndex, _ conjuncts: [Filter], _ constraints: Constraints, _ total: Int
    ) throws -> Draft? {
        switch index.kind {
        case .values: try valueDraft(index, conjuncts, constraints, total)
        case .elements: try elementDraft(index, conjuncts, constraints, total)
        }
    }

    private func valueDraft(
        _ index: StoredIndex, _ conjuncts: [Filter], _ constraints: Constraints, _ total: Int
    ) throws -> Draft? {
        var prefixes = [KeyBytes()]
        // Conjuncts that the ranges state exactly.
        var used: [Int] = []
        // Components with one value each, a bit for each of the first 64: they do not disturb the order.
        var fixed: UInt64 = 0
        var ranges: [KeyRange]?
        var hasCutBound = false
        let most = CostModel.affordableDescents(in: total)
        for (number, component) in index.components.enumerated() {
            guard let constraint = constraints[component.position] else { break }
            if let points = constraint.points, points.count <= most / prefixes.count {
                if !extend(&prefixes, by: points, index, number) { hasCutBound = true }
                if points.count == 1 { fixed |= 1 << UInt64(number) }
                if !constraint.isRange { used += constraint.sources }
                continue
            }
            if constraint.points == nil,
                let (bounded, isExact) = constraint.ranges(of: index, component: number, behind: prefixes)
            {
                ranges = bounded
                if isExact { used += constraint.sources }
            }
            break
        }
        // An empty prefix of text bounds nothing, either.
        let isUnbounded = ranges.map { $0 == [.all] } ?? (prefixes.count == 1 && prefixes[0].count == 0)
        let (satisfied, reversed) = try orderGiven(by: index, fixed: fixed)
        // An index that neither narrows nor orders has nothing to offer.
        if isUnbounded && (isOrderFree || !satisfied) { return nil }
        var draft = Draft(
            source: .nothing, isReversed: reversed, residual: conjuncts, isOrdered: satisfied, candidates: total)
        if isUnbounded {
            draft.source = .index(index, ranges: [.all])
            return draft
        }
        if !hasCutBound && !used.isEmpty {
            draft.residual = conjuncts.removing(at: used)
        }
        var all = ranges ?? prefixes.map { KeyRange(prefix: $0.bytes) }
        all.removeAll(where: \.isEmpty)
        if all.count > 1 {
            all.sort { $0.lower.lexicographicallyPrecedes($1.lower) }
            // Two cut values may have one key, hash and all: their entries must not be met twice.
            all = all.indices.filter { $0 == 0 || all[$0] != all[$0 - 1] }.map { all[$0] }
        }
        draft.candidates = try count(
            index.database, all, total, ordered: satisfied, tests: !draft.residual.isEmpty)
        draft.source = .index(index, ranges: all)
        return draft
    }

    /// Puts each of the component's values behind each prefix. Returns false when a value's key had to be cut.
    private func extend(
        _ prefixes: inout [KeyBytes], by points: [StoredValue], _ index: StoredIndex, _ number: Int
    ) -> Bool {
        let isOptional = index.components[number].isOptional
        var isExact = true
        if points.count == 1, points[0] != .null || isOptional {
            for position in prefixes.indices {
                if !index.append(points[0], component: number, to: &prefixes[position]) { isExact = false }
            }
            return isExact
        }
        var longer: [KeyBytes] = []
        for prefix in prefixes {
            for point in points where point != .null || isOptional {
                var key = prefix
                if !index.append(point, component: number, to: &key) { isExact = false }
                longer.append(key)
            }
        }
        prefixes = longer
        return isExact
    }

    /// One element's entries are in ID order, each object once.
    private func elementDraft(
        _ index: StoredIndex, _ conjuncts: [Filter], _ constraints: Constraints, _ total: Int
    ) throws -> Draft? {
        guard let constraint = constraints[index.components[0].position], let element = constraint.element,
            element != .null || index.components[0].isOptional
        else { return nil }
        var key = KeyBytes()
        let isExact = index.append(element, component: 0, to: &key)
        let range = KeyRange(prefix: key.bytes)
        let residual = isExact ? remaining(conjuncts, but: constraint) : conjuncts
        return Draft(
            source: .index(index, ranges: [range]), isReversed: order.idDescending && isIDOrder, residual: residual,
            isOrdered: isIDOrder,
            candidates: try count(index.database, [range], total, ordered: isIDOrder, tests: !residual.isEmpty))
    }

    /// Whether the index's order, from its start or its end, is the requested one, for entries whose `fixed` components
    /// have one value each.
    private func orderGiven(by index: StoredIndex, fixed: UInt64) throws -> (satisfied: Bool, reversed: Bool) {
        if isOrderFree { return (true, false) }
        guard order.isKeyed else { return (false, false) }
        let reversed = order.idDescending
        let components = index.components
        func isFixed(_ number: Int) -> Bool { fixed & (1 << UInt64(number)) != 0 }
        var next = 0
        for term in order.terms {
            guard case .field(let position) = term.criterion else { return (false, false) }
            if components.indices.contains(where: { isFixed($0) && components[$0].position == position }) {
                continue
            }
            while next < components.count, isFixed(next) { next += 1 }
            if position == 0 && next == components.count && !entity.hasForeignIDs { break }
            guard next < components.count, components[next].position == position, term.descending == reversed
            else { return (false, false) }
            next += 1
        }
        while next < components.count, isFixed(next) { next += 1 }
        guard next == components.count else { return (false, false) }
        // Cut keys of different values stand in the order of their hashes.
        if index.hasVaryingComponent,
            try engine.main.count(.inexactKeys(of: index.databaseNumber), in: transaction) > 0
        {
            return (false, false)
        }
        return (true, reversed)
    }
}
