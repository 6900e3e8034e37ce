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
    /// Index entries that are always worth counting to estimate a range.
    private static let smallestProbe = 200

    // Rough costs in nanoseconds, of a warm store: they only need to be right relative to each other.
    private static let scanCost = 50.0
    static let lookupCost = 700.0
    static let entryCost = 60.0
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
    mutating func restrict<T: Entity>(to predicate: Predicate<T>, _ binding: EntityBinding) throws {
        filter = try Lowering.filter(predicate, binding)
    }

    /// The next sort criterion; without a key path, one that needs the objects.
    @usableFromInline
    mutating func sort(by keyPath: AnyKeyPath?, descending: Bool, _ binding: EntityBinding) {
        order.append(binding.sortPosition(keyPath), descending: descending)
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
    struct Draft {
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
            var drafts = [try tableDraft(conjuncts, constraints, total)]
            if let lookup = lookupDraft(conjuncts, constraints) { drafts.append(lookup) }
            for index in state.indexes {
                let draft =
                    index.isEach
                    ? try elementDraft(index, conjuncts, constraints, total)
                    : try indexDraft(index, conjuncts, constraints, total)
                if let draft { drafts.append(draft) }
            }
            return drafts
        } catch {
            throw StoreError.wrapping(error, engine: engine)
        }
    }

    // MARK: By ID

    private func lookupDraft(_ conjuncts: [Filter], _ constraints: Constraints) -> Draft? {
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

    private func tableDraft(_ conjuncts: [Filter], _ constraints: Constraints, _ total: Int) throws -> Draft {
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

    var isIDOrder: Bool {
        guard let fields = order.fields else { return false }
        return fields.isEmpty || fields[0].position == 0
    }

    // MARK: Costs

    func remaining(_ conjuncts: [Filter], but constraint: Constraint?) -> [Filter] {
        guard let constraint else { return conjuncts }
        // A prefix is a superset; a set joined with a range is only half used.
        let isHalfUsed =
            constraint.prefix != nil || (constraint.points != nil && constraint.isRange)
        if isHalfUsed { return conjuncts }
        return conjuncts.removing(at: constraint.sources)
    }

    /// How many entries the ranges hold, counted as far as the answer can matter.
    ///
    /// Beyond a fifteenth of the table a scan of the table is cheaper anyway, and counting that far costs a fiftieth of it.
    /// An ordered source with a limit is left after so many candidates; if nothing is tested any more, it is not counted at
    /// all, since counting would cost as much as the fetch.
    func count(
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
