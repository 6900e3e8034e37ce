// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

/// Finds the ways to carry out a fetch, and the cheapest of them.
@usableFromInline
struct Planner {
    let state: EntityState
    let engine: Engine
    let transaction: Transaction
    private(set) var filter: Filter
    private(set) var order: RequestedOrder
    let limit: Int?
    let offset: Int

    /// No store has as many rows: a greater limit or offset means the same, and sums with this one cannot overflow.
    private static let maximumRows = 1 << 48
    /// Values of one component that are worth a range of their own each.
    private static let maximumRanges = 1_000
    /// Index entries that are always worth counting to estimate a range.
    private static let smallestProbe = 200

    // Rough costs in nanoseconds, of a warm store: they only need to be right relative to each other.
    private static let scanCost = 50.0
    private static let lookupCost = 700.0
    private static let entryCost = 60.0
    private static let sortCost = 150.0
    private static let objectTestCost = 500.0

    /// Nil, or a negative limit, is none.
    init(
        state: EntityState, engine: Engine, transaction: Transaction, filter: Filter, order: RequestedOrder,
        limit: Int?, offset: Int
    ) {
        self.state = state
        self.engine = engine
        self.transaction = transaction
        self.filter = filter
        self.order = order
        self.limit = limit.flatMap { $0 < 0 ? nil : min($0, Self.maximumRows) }
        self.offset = max(0, min(offset, Self.maximumRows))
    }

    /// Without a predicate and an order; they are added one by one.
    @usableFromInline
    init(_ context: SnapshotContext, _ binding: EntityBinding, limit: Int?, offset: Int?) {
        self.init(
            state: binding.state, engine: context.store.engine, transaction: context.transaction,
            filter: .constant(true), order: RequestedOrder(), limit: limit, offset: offset ?? 0)
    }

    @usableFromInline
    mutating func restrict<T: Entity>(to predicate: Predicate<T>, _ binding: EntityBinding) {
        filter = Lowering.filter(predicate, binding)
    }

    /// The next sort criterion; without a key path, one that needs the objects.
    @usableFromInline
    mutating func sort(by keyPath: AnyKeyPath?, descending: Bool, _ binding: EntityBinding) {
        let position = keyPath.flatMap { binding.position(of: $0) }.flatMap { binding.isOrderedAsStored[$0] ? $0 : nil }
        order.append(position, descending: descending)
    }

    /// The cheapest way that gives the right result.
    @usableFromInline
    func best() throws -> Execution {
        let drafts = try drafts()
        let matches = Self.matches(drafts)
        var best: (draft: Draft, estimate: Estimate)?
        for draft in drafts {
            let estimate = estimate(draft, matches)
            if estimate.cost < best?.estimate.cost ?? .infinity { best = (draft, estimate) }
        }
        if let best { return execution(best.draft, best.estimate) }
        return execution(Draft(source: .nothing, isOrdered: true, candidates: 0, perRow: 0), Estimate(rows: 0, cost: 0))
    }

    /// Every way that gives the right result; the tests run them all.
    func all() throws -> [Execution] {
        let drafts = try drafts()
        let matches = Self.matches(drafts)
        return drafts.map { execution($0, estimate($0, matches)) }
    }

    private func execution(_ draft: Draft, _ estimate: Estimate) -> Execution {
        let plan = Plan(
            source: draft.source, isReversed: draft.isReversed, residual: draft.residual, isOrdered: draft.isOrdered,
            estimatedRows: estimate.rows, estimatedCost: estimate.cost, limit: limit, offset: offset)
        return Execution(plan: plan, state: state, order: order, engine: engine, transaction: transaction)
    }

    /// A plan without its costs, which depend on what the others say.
    private struct Draft {
        var source: Plan.Source
        var isReversed = false
        var residual: [Filter] = []
        var isOrdered: Bool
        /// What the source yields, as far as it was counted.
        var candidates: Int
        /// Nanoseconds, roughly, for each of them.
        var perRow: Double
    }

    private func drafts() throws -> [Draft] {
        guard let conjuncts = filter.conjuncts, limit != 0 else { return [] }
        let constraints = Constraints(conjuncts)
        if constraints.excludeEverything { return [] }
        do {
            let total = try transaction.statistics(of: state.records).entries
            var drafts = [try table(conjuncts, constraints, total)]
            if let lookup = lookup(conjuncts, constraints) { drafts.append(lookup) }
            for index in state.indexes {
                let draft =
                    index.isEach
                    ? try elements(of: index, conjuncts, constraints, total)
                    : try entries(of: index, conjuncts, constraints, total)
                if let draft { drafts.append(draft) }
            }
            return drafts
        } catch {
            throw StoreError.wrapping(error, engine: engine)
        }
    }

    // MARK: By ID

    private func lookup(_ conjuncts: [Filter], _ constraints: Constraints) -> Draft? {
        guard let constraint = constraints[0], let points = constraint.points else { return nil }
        let keys = points.compactMap { idKey($0) }.sorted { $0.lexicographicallyPrecedes($1) }
        return Draft(
            source: .lookup(keys: keys), isReversed: order.idDescending,
            residual: remaining(conjuncts, but: constraint), isOrdered: isIDOrder, candidates: keys.count,
            perRow: Self.lookupCost)
    }

    private func idKey(_ value: StoredValue) -> [UInt8]? {
        if value == .null { return nil }
        var key = KeyBytes()
        key.append(value, limit: Int.max)
        // A longer ID cannot exist.
        return key.count <= maximumIDKeyLength ? key.bytes : nil
    }

    private func table(_ conjuncts: [Filter], _ constraints: Constraints, _ total: Int) throws -> Draft {
        var draft = Draft(
            source: .table(range: .all), isReversed: order.idDescending && isIDOrder, residual: conjuncts,
            isOrdered: isIDOrder, candidates: total, perRow: Self.scanCost)
        guard let constraint = constraints[0], constraint.points == nil else { return draft }
        var range = KeyRange.all
        let low = constraint.lower.flatMap { bound in idKey(bound.value).map { ($0, bound.isIncluded) } }
        let high = constraint.upper.flatMap { bound in idKey(bound.value).map { ($0, bound.isIncluded) } }
        // 00 is the least that can follow a key.
        if let (key, isIncluded) = low { range.lower = isIncluded ? key : key + [0] }
        if let (key, isIncluded) = high { range.upper = isIncluded ? key + [0] : key }
        if range == .all { return draft }
        // A bound longer than any ID, and a prefix, are only tested.
        let isExact = (low == nil) == (constraint.lower == nil) && (high == nil) == (constraint.upper == nil)
        if isExact { draft.residual = remaining(conjuncts, but: constraint) }
        draft.source = .table(range: range)
        draft.candidates = try count(
            state.records, [range], total, ordered: draft.isOrdered, tests: !draft.residual.isEmpty)
        return draft
    }

    private var isIDOrder: Bool {
        guard let fields = order.fields else { return false }
        return fields.isEmpty || fields[0].position == 0
    }

    // MARK: By index

    private func entries(
        of index: IndexState, _ conjuncts: [Filter], _ constraints: Constraints, _ total: Int
    ) throws -> Draft? {
        var prefixes = [KeyBytes()]
        // Conjuncts that the ranges state exactly.
        var used: [Int] = []
        // Components with one value each, a bit for each of the first 64: they do not disturb the order.
        var fixed: UInt64 = 0
        var ranges: [KeyRange]?
        var hasCutBound = false
        for (number, component) in index.components.enumerated() {
            guard let constraint = constraints[component.position] else { break }
            if let points = constraint.points, points.count * prefixes.count <= Self.maximumRanges {
                if !extend(&prefixes, by: points, index, number) { hasCutBound = true }
                if points.count == 1 { fixed |= 1 << UInt64(number) }
                if !constraint.isRange { used += constraint.sources }
                continue
            }
            if constraint.points == nil, let (bounded, isExact) = bounds(index, number, constraint, prefixes) {
                ranges = bounded
                if isExact { used += constraint.sources }
            }
            break
        }
        let isUnbounded = ranges == nil && prefixes.count == 1 && prefixes[0].count == 0
        let (satisfied, reversed) = try orderGiven(by: index, fixed: fixed)
        // An index that neither narrows nor orders has nothing to offer.
        if isUnbounded && !satisfied { return nil }
        var draft = Draft(
            source: .nothing, isReversed: reversed, residual: conjuncts, isOrdered: satisfied, candidates: total,
            perRow: Self.entryCost + Self.lookupCost)
        if isUnbounded {
            draft.source = .index(index, ranges: [.all])
            return draft
        }
        if !hasCutBound && !used.isEmpty {
            draft.residual = conjuncts.indices.filter { !used.contains($0) }.map { conjuncts[$0] }
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
        _ prefixes: inout [KeyBytes], by points: [StoredValue], _ index: IndexState, _ number: Int
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
    private func elements(
        of index: IndexState, _ conjuncts: [Filter], _ constraints: Constraints, _ total: Int
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
            candidates: try count(index.database, [range], total, ordered: isIDOrder, tests: !residual.isEmpty),
            perRow: Self.entryCost + Self.lookupCost)
    }

    /// The ranges of a component between two bounds, for each prefix; and whether they are exactly what the constraint says.
    private func bounds(
        _ index: IndexState, _ number: Int, _ constraint: Constraint, _ prefixes: [KeyBytes]
    ) -> ([KeyRange], Bool)? {
        guard constraint.isRange else { return nil }
        let component = index.components[number]
        var isExact = constraint.prefix == nil
        let ranges = prefixes.map { prefix -> KeyRange in
            // Null is below every bound, and no comparison with it holds.
            let present = component.isOptional ? prefix.bytes + [1] : prefix.bytes
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

    /// Whether the index's order, from its start or its end, is the requested one, for entries whose `fixed` components
    /// have one value each.
    private func orderGiven(by index: IndexState, fixed: UInt64) throws -> (satisfied: Bool, reversed: Bool) {
        guard let terms = order.fields else { return (false, false) }
        let reversed = order.idDescending
        let components = index.components
        func isFixed(_ number: Int) -> Bool { fixed & (1 << UInt64(number)) != 0 }
        var next = 0
        for term in terms {
            if components.indices.contains(where: { isFixed($0) && components[$0].position == term.position }) { continue }
            while next < components.count, isFixed(next) { next += 1 }
            if term.position == 0 && next == components.count { break }
            guard next < components.count, components[next].position == term.position, term.descending == reversed
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

    // MARK: Costs

    private func remaining(_ conjuncts: [Filter], but constraint: Constraint?) -> [Filter] {
        guard let constraint else { return conjuncts }
        // A prefix is a superset; a set joined with a range is only half used.
        let isHalfUsed =
            constraint.prefix != nil || (constraint.points != nil && constraint.isRange)
        if isHalfUsed { return conjuncts }
        return conjuncts.indices.filter { !constraint.sources.contains($0) }.map { conjuncts[$0] }
    }

    /// How many entries the ranges hold, counted as far as the answer can matter.
    ///
    /// Beyond a fifteenth of the table a scan of the table is cheaper anyway, and counting that far costs a fiftieth of it.
    /// An ordered source with a limit is left after so many candidates; if nothing is tested any more, it is not counted at
    /// all, since counting would cost as much as the fetch.
    private func count(
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

    private struct Estimate {
        let rows: Int
        let cost: Double
    }

    /// No plan finds more matches than another has candidates.
    private static func matches(_ drafts: [Draft]) -> Int {
        drafts.reduce(Int.max) { min($0, $1.candidates) }
    }

    /// `matches` is how many rows are expected to pass at most: an ordered scan finds them spread over its candidates.
    private func estimate(_ draft: Draft, _ matches: Int) -> Estimate {
        var visited = Double(draft.candidates)
        if draft.isOrdered, let limit {
            let spread = max(Double(Self.expectedTestsPerRow), visited / Double(max(1, matches)))
            visited = min(visited, Double(limit + offset) * (draft.residual.isEmpty ? 1 : spread))
        }
        var cost = visited * draft.perRow
        if draft.residual.contains(where: \.needsObject) { cost += visited * Self.objectTestCost }
        if !draft.isOrdered { cost += visited * Self.sortCost }
        return Estimate(rows: Int(visited), cost: cost)
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
