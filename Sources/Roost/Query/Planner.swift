// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// Finds the ways to carry out a fetch, and the cheapest of them.
struct Planner {
    let state: EntityState
    let engine: Engine
    let transaction: Transaction
    let filter: Filter
    let order: RequestedOrder
    let limit: Int?
    let offset: Int

    /// No store has as many rows: a greater limit or offset means the same, and sums with this one cannot overflow.
    static let maximumRows = 1 << 48

    init(
        state: EntityState, engine: Engine, transaction: Transaction, filter: Filter, order: RequestedOrder,
        limit: Int?, offset: Int
    ) {
        self.state = state
        self.engine = engine
        self.transaction = transaction
        self.filter = filter
        self.order = order
        self.limit = limit.map { min($0, Self.maximumRows) }
        self.offset = min(offset, Self.maximumRows)
    }

    /// Values of one component that are worth a range of their own each.
    static let maximumRanges = 1_000
    /// Index entries that are always worth counting to estimate a range.
    private static let smallestProbe = 200

    // Rough costs in nanoseconds, of a warm store: they only need to be right relative to each other.
    private static let scanCost = 50.0
    private static let lookupCost = 700.0
    private static let entryCost = 60.0
    private static let sortCost = 150.0

    func best() throws -> Plan {
        let plans = try candidates()
        guard let best = plans.min(by: { $0.estimatedCost < $1.estimatedCost }) else {
            return Plan(source: .nothing, isOrdered: true, estimatedRows: 0, estimatedCost: 0, limit: limit)
        }
        return best
    }

    /// Every way that gives the right result; the tests run them all.
    func candidates() throws -> [Plan] {
        guard let conjuncts = filter.conjuncts, limit != 0 else { return [] }
        let constraints = Constraint.collect(conjuncts)
        if constraints.values.contains(where: { $0.points?.isEmpty == true }) { return [] }
        let total = try transaction.statistics(of: state.records).entries
        var plans = try [tablePlan(conjuncts, constraints, total)]
        if let lookup = lookupPlan(conjuncts, constraints) { plans.append(lookup) }
        for index in state.indexes {
            if let plan = try indexPlan(index, conjuncts, constraints, total) { plans.append(plan) }
        }
        // No plan finds more matches than another has candidates.
        let matches = plans.map(\.candidates).min() ?? total
        return plans.map { costed($0, matches) }
    }

    /// A plan without its costs, which depend on what the others say.
    private struct Draft {
        let plan: Plan
        let candidates: Int
        let perRow: Double
    }

    // MARK: By ID

    private func lookupPlan(_ conjuncts: [Filter], _ constraints: [Int: Constraint]) -> Draft? {
        guard let constraint = constraints[0], let points = constraint.points else { return nil }
        let keys = points.compactMap { idKey($0) }.sorted { $0.lexicographicallyPrecedes($1) }
        return finish(
            .lookup(keys: keys), reversed: order.idDescending, residual: remaining(conjuncts, but: constraint),
            ordered: isIDOrder, rows: keys.count, perRow: Self.lookupCost)
    }

    private func idKey(_ value: StoredValue) -> [UInt8]? {
        if value == .null { return nil }
        var key = KeyBytes()
        key.append(value, limit: Int.max)
        // A longer ID cannot exist.
        return key.count <= maximumIDKeyLength ? key.bytes : nil
    }

    private func tablePlan(_ conjuncts: [Filter], _ constraints: [Int: Constraint], _ total: Int) throws -> Draft {
        var range = KeyRange.all
        var residual = conjuncts
        if let constraint = constraints[0], constraint.points == nil {
            let low = constraint.lower.flatMap { bound in idKey(bound.value).map { ($0, bound.isIncluded) } }
            let high = constraint.upper.flatMap { bound in idKey(bound.value).map { ($0, bound.isIncluded) } }
            // 00 is the least that can follow a key.
            if let (key, isIncluded) = low { range.lower = isIncluded ? key : key + [0] }
            if let (key, isIncluded) = high { range.upper = isIncluded ? key + [0] : key }
            // A bound longer than any ID, and a prefix, are only tested.
            let isExact = (low == nil) == (constraint.lower == nil) && (high == nil) == (constraint.upper == nil)
            if range != .all && isExact { residual = remaining(conjuncts, but: constraint) }
        }
        let rows =
            range == .all
            ? total
            : try estimate(state.records, [range], total, ordered: isIDOrder, tests: !residual.isEmpty)
        return finish(
            .table(range: range), reversed: order.idDescending && isIDOrder, residual: residual, ordered: isIDOrder,
            rows: rows, perRow: Self.scanCost)
    }

    private var isIDOrder: Bool {
        guard let fields = order.fields else { return false }
        return fields.isEmpty || fields[0].position == 0
    }

    // MARK: By index

    private func indexPlan(
        _ index: IndexState, _ conjuncts: [Filter], _ constraints: [Int: Constraint], _ total: Int
    ) throws -> Draft? {
        if index.isEach { return try elementPlan(index, conjuncts, constraints, total) }
        var prefixes: [[UInt8]] = [[]]
        var used: Set<Int> = []
        // Components with one value only, by field: they do not disturb the order.
        var fixed: Set<Int> = []
        var ranges: [KeyRange]?
        var hasCutBound = false
        for (number, component) in index.components.enumerated() {
            guard let constraint = constraints[component.position] else { break }
            if let points = constraint.points, points.count * prefixes.count <= Self.maximumRanges {
                var longer: [[UInt8]] = []
                for prefix in prefixes {
                    for point in points {
                        if point == .null && !component.isOptional { continue }
                        var key = KeyBytes()
                        key.append(prefix)
                        if !index.append(point, component: number, to: &key) { hasCutBound = true }
                        longer.append(key.bytes)
                    }
                }
                prefixes = longer
                if points.count == 1 { fixed.insert(component.position) }
                if constraint.lower == nil && constraint.upper == nil && constraint.prefix == nil {
                    used.formUnion(constraint.sources)
                }
                continue
            }
            if constraint.points == nil, let (bounded, isExact) = bounds(index, number, constraint, prefixes) {
                ranges = bounded
                if isExact { used.formUnion(constraint.sources) }
            }
            break
        }
        if hasCutBound { used = [] }
        var all = ranges ?? (prefixes == [[]] ? [.all] : prefixes.map { KeyRange(prefix: $0) })
        all.removeAll(where: \.isEmpty)
        all.sort { $0.lower.lexicographicallyPrecedes($1.lower) }
        // Two cut values may have one key, hash and all: their entries must not be met twice.
        all = all.enumerated().filter { $0.offset == 0 || $0.element != all[$0.offset - 1] }.map(\.element)
        let (satisfied, reversed) = try orderGiven(by: index, fixed: fixed)
        let isUnbounded = all == [.all]
        // An index that neither narrows nor orders has nothing to offer.
        if isUnbounded && !satisfied { return nil }
        let residual = conjuncts.enumerated().filter { !used.contains($0.offset) }.map(\.element)
        let rows =
            isUnbounded
            ? total
            : try estimate(index.database, all, total, ordered: satisfied, tests: !residual.isEmpty)
        return finish(
            .index(index, ranges: all), reversed: reversed, residual: residual, ordered: satisfied, rows: rows,
            perRow: Self.entryCost + Self.lookupCost)
    }

    /// One element's entries are in ID order, each object once.
    private func elementPlan(
        _ index: IndexState, _ conjuncts: [Filter], _ constraints: [Int: Constraint], _ total: Int
    ) throws -> Draft? {
        guard let constraint = constraints[index.components[0].position], let element = constraint.element,
            element != .null || index.components[0].isOptional
        else { return nil }
        var key = KeyBytes()
        let isExact = index.append(element, component: 0, to: &key)
        let range = KeyRange(prefix: key.bytes)
        let residual = isExact ? remaining(conjuncts, but: constraint) : conjuncts
        return finish(
            .index(index, ranges: [range]), reversed: order.idDescending && isIDOrder, residual: residual,
            ordered: isIDOrder,
            rows: try estimate(
                index.database, [range], total, ordered: isIDOrder, tests: !residual.isEmpty),
            perRow: Self.entryCost + Self.lookupCost)
    }

    /// The ranges of a component between two bounds, for each prefix; and whether they are exactly what the constraint says.
    private func bounds(
        _ index: IndexState, _ number: Int, _ constraint: Constraint, _ prefixes: [[UInt8]]
    ) -> ([KeyRange], Bool)? {
        guard constraint.lower != nil || constraint.upper != nil || constraint.prefix != nil else { return nil }
        let component = index.components[number]
        var isExact = constraint.prefix == nil
        let ranges = prefixes.map { prefix -> KeyRange in
            // Null is below every bound, and no comparison with it holds.
            let present = component.isOptional ? prefix + [1] : prefix
            func encoded(_ value: StoredValue) -> (bytes: [UInt8], isExact: Bool) {
                var key = KeyBytes()
                key.append(present)
                let isExact = key.append(value, limit: index.textLimit)
                return (key.bytes, isExact)
            }
            /// Up to where a cut value agrees with every longer one.
            func cut(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.dropLast(9)) }

            var range = KeyRange(prefix: present)
            if let (value, isIncluded) = constraint.lower {
                let (key, exact) = encoded(value)
                isExact = isExact && exact
                let low = !exact ? cut(key) : isIncluded ? key : KeyRange.successor(ofPrefix: key)
                // No key is above one of FF alone: then nothing is above the greatest value.
                range = range.intersection(
                    low.map { KeyRange(lower: $0, upper: nil) } ?? KeyRange(lower: key, upper: key))
            }
            if let (value, isIncluded) = constraint.upper {
                let (key, exact) = encoded(value)
                isExact = isExact && exact
                let high =
                    !exact
                    ? KeyRange.successor(ofPrefix: cut(key)) : isIncluded ? KeyRange.successor(ofPrefix: key) : key
                range = range.intersection(KeyRange(lower: [], upper: high))
            } else if case .double = constraint.lower?.value {
                // NaN sorts above everything, but is not above anything.
                let high = KeyRange.successor(ofPrefix: encoded(.double(.infinity)).bytes)
                range = range.intersection(KeyRange(lower: [], upper: high))
            }
            if let text = constraint.prefix {
                var key = KeyBytes()
                key.append(present)
                let start = key.count
                // Without the end; a cut prefix loses its hash, too.
                if text.bytes.withUnsafeBytes({ key.append(escaping: $0, limit: index.textLimit) }) {
                    key.truncate(to: key.count - 1)
                } else {
                    key.truncate(to: start + index.textLimit)
                }
                range = range.intersection(KeyRange(prefix: key.bytes))
            }
            return range
        }
        return (ranges, isExact)
    }

    /// Whether the index's order, from its start or its end, is the requested one, for entries whose `fixed` fields have one
    /// value each.
    private func orderGiven(by index: IndexState, fixed: Set<Int>) throws -> (satisfied: Bool, reversed: Bool) {
        guard let terms = order.fields else { return (false, false) }
        let reversed = order.idDescending
        var components = index.components[...]
        for term in terms {
            if term.position == 0 && components.allSatisfy({ fixed.contains($0.position) }) {
                components = []
                break
            }
            if fixed.contains(term.position) { continue }
            while let next = components.first, fixed.contains(next.position), next.position != term.position {
                components.removeFirst()
            }
            guard let next = components.first, next.position == term.position, term.descending == reversed else {
                return (false, false)
            }
            components.removeFirst()
        }
        guard components.allSatisfy({ fixed.contains($0.position) }) else { return (false, false) }
        // Cut keys of different values stand in the order of their hashes.
        if index.hasVaryingComponent,
            try engine.main.count(.inexactKeys(of: index.databaseNumber), in: transaction) > 0
        {
            return (false, false)
        }
        return (true, reversed)
    }

    // MARK: Costs

    private func remaining(_ conjuncts: [Filter], but constraint: Constraint?) -> [Filter] {
        guard let constraint else { return conjuncts }
        // A prefix is a superset; a set joined with a range is only half used.
        let isHalfUsed =
            constraint.prefix != nil
            || (constraint.points != nil && (constraint.lower != nil || constraint.upper != nil))
        if isHalfUsed { return conjuncts }
        return conjuncts.enumerated().filter { !constraint.sources.contains($0.offset) }.map(\.element)
    }

    /// How many entries the ranges hold, counted as far as the answer can matter.
    ///
    /// Beyond a fifteenth of the table a scan of the table is cheaper anyway, and counting that far costs a fiftieth of it.
    /// An ordered source with a limit is left after so many candidates; if nothing is tested any more, it is not counted at
    /// all, since counting would cost as much as the fetch.
    private func estimate(
        _ database: Database, _ ranges: [KeyRange], _ total: Int, ordered: Bool, tests: Bool
    ) throws -> Int {
        var most = max(Self.smallestProbe, total / 15)
        if ordered, let limit {
            if !tests { return total }
            most = min(most, (limit + offset) * Self.expectedTestsPerRow)
        }
        var counted = 0
        for range in ranges {
            var cursor = try transaction.cursor(database)
            var stands = try range.lower.withUnsafeBytes { try cursor.seek(atLeast: $0) }
            while stands, range.contains(below: cursor.key) {
                counted += 1
                if counted >= most { return max(counted, total / 10) }
                stands = try cursor.next()
            }
        }
        return counted
    }

    /// How many candidates are expected to be tested for one that passes. Rather many: where an index gives the order and
    /// needs no test, what it reads is certain, and a scan that tests must promise more than a tie to be preferred.
    private static let expectedTestsPerRow = 20

    private func finish(
        _ source: Plan.Source, reversed: Bool, residual: [Filter], ordered: Bool, rows: Int, perRow: Double
    ) -> Draft {
        let plan = Plan(
            source: source, isReversed: reversed, residual: residual, isOrdered: ordered, estimatedRows: rows,
            estimatedCost: 0, limit: limit, offset: offset)
        return Draft(plan: plan, candidates: rows, perRow: perRow)
    }

    /// `matches` is how many rows are expected to pass at most: an ordered scan finds them spread over its candidates.
    private func costed(_ draft: Draft, _ matches: Int) -> Plan {
        var plan = draft.plan
        var visited = Double(draft.candidates)
        if plan.isOrdered, let limit {
            let spread = max(Double(Self.expectedTestsPerRow), visited / Double(max(1, matches)))
            visited = min(visited, Double(limit + offset) * (plan.residual.isEmpty ? 1 : spread))
        }
        var cost = visited * draft.perRow
        if plan.residual.contains(where: \.needsObject) { cost += visited * 500 }
        if !plan.isOrdered { cost += visited * Self.sortCost }
        plan.estimatedRows = Int(visited)
        plan.estimatedCost = cost
        return plan
    }
}

extension KeyRange {
    /// Whether a key that is not below `lower` lies in the range.
    @inline(__always)
    func contains(below key: UnsafeRawBufferPointer) -> Bool {
        guard let upper else { return true }
        return upper.withUnsafeBytes { StoredOrder.of(key, $0) == .less }
    }

    /// Whether a key that is below `upper` lies in the range.
    @inline(__always)
    func contains(above key: UnsafeRawBufferPointer) -> Bool {
        lower.withUnsafeBytes { StoredOrder.of(key, $0) != .less }
    }
}
