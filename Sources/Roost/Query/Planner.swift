// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

/// Finds the ways to carry out a request, and the cheapest of them.
@usableFromInline
struct Planner {
    /// What is wanted of the rows.
    @usableFromInline
    enum Purpose: Sendable {
        case objects
        /// Their keys, which an index knows.
        case keys
        /// Their keys, to remove the objects: in any order, unless it decides which ones they are.
        case removal
        /// Only how many there are: any order will do.
        case count
    }

    let entity: StoredEntity
    let engine: Engine
    let transaction: Transaction
    let request: LoweredRequest
    let purpose: Purpose
    /// Whether any order will do.
    let isOrderFree: Bool
    var order: RequestedOrder { request.order }

    init(
        entity: StoredEntity, engine: Engine, transaction: Transaction, request: LoweredRequest,
        purpose: Purpose = .objects
    ) {
        self.entity = entity
        self.engine = engine
        self.transaction = transaction
        isOrderFree =
            purpose == .count || (purpose == .removal && request.limit == nil && request.offset == 0)
        self.request = isOrderFree ? request.unordered : request
        self.purpose = purpose
    }

    @usableFromInline
    init(_ context: SnapshotContext, _ binding: EntityBinding, _ request: LoweredRequest, _ purpose: Purpose) {
        if let tracker = context.tracker as? any PlanTracking { tracker.noteRequest(binding.entity, request) }
        self.init(
            entity: binding.entity, engine: context.store.engine, transaction: context.transaction,
            request: request, purpose: purpose)
    }

    /// The cheapest way that gives the right result.
    @usableFromInline
    func best() throws -> Execution {
        let drafts = try drafts()
        let matches = Self.matches(drafts)
        var best: (draft: Draft, estimate: Estimate)?
        // What tests nothing reads no record, and so removes damaged ones, too; it yields nothing but what is removed.
        let candidates = drafts.filter(\.residual.isEmpty)
        for draft in purpose == .removal && isOrderFree && !candidates.isEmpty ? candidates : drafts {
            let estimate = estimate(draft, matches)
            if estimate.cost < best?.estimate.cost ?? .infinity { best = (draft, estimate) }
        }
        if let best { return execution(best.draft, best.estimate) }
        return execution(Draft(source: .nothing, isOrdered: true, candidates: 0), Estimate(rows: 0, cost: 0))
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
            estimatedRows: estimate.rows, estimatedCost: estimate.cost)
        return Execution(plan: plan, request: request, entity: entity, engine: engine, transaction: transaction)
    }

    /// A plan without its costs, which depend on what the others say.
    struct Draft {
        var source: Plan.Source
        var isReversed = false
        var residual: [Filter] = []
        var isOrdered: Bool
        /// What the source yields, as far as it was counted.
        var candidates: Int
    }

    private func drafts() throws -> [Draft] {
        guard let conjuncts = request.filter.conjuncts, request.limit != 0 else { return [] }
        let constraints = Constraints(conjuncts)
        if constraints.excludeEverything { return [] }
        do {
            let total = try transaction.statistics(of: entity.records).entries
            var drafts = [try tableDraft(conjuncts, constraints, total)]
            if let lookup = lookupDraft(conjuncts, constraints, total) { drafts.append(lookup) }
            for index in entity.indexes where index.hasOwnKeys {
                if let draft = try draft(index, conjuncts, constraints, total) { drafts.append(draft) }
            }
            return drafts
        } catch {
            throw StoreError.wrapping(error, engine: engine)
        }
    }

    // MARK: By ID

    private func lookupDraft(_ conjuncts: [Filter], _ constraints: Constraints, _ total: Int) -> Draft? {
        guard let constraint = constraints[0], let points = constraint.points,
            points.count <= CostModel.affordableDescents(in: total)
        else { return nil }
        let keys = points.compactMap { idKey($0) }.sorted { $0.lexicographicallyPrecedes($1) }
        // What this build makes of the IDs must be what the store has.
        if entity.hasForeignIDs, !keys.allSatisfy({ $0.withUnsafeBytes(NormalizedText.isTriviallyNormalized) }) {
            return nil
        }
        return Draft(
            source: .lookup(keys: keys), isReversed: order.idDescending,
            residual: remaining(conjuncts, but: constraint), isOrdered: isIDOrder, candidates: keys.count)
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
            isOrdered: isIDOrder, candidates: total)
        guard let constraint = constraints[0], constraint.points == nil, !entity.hasForeignIDs else { return draft }
        var range = KeyRange.all
        let low = constraint.lower.flatMap { bound in idKey(bound.value).map { ($0, bound.isIncluded) } }
        let high = constraint.upper.flatMap { bound in idKey(bound.value).map { ($0, bound.isIncluded) } }
        // 00 is the least that can follow a key.
        if let (key, isIncluded) = low { range.lower = isIncluded ? key : key + [0] }
        if let (key, isIncluded) = high { range.upper = isIncluded ? key + [0] : key }
        if let prefix = constraint.prefix {
            var key = KeyBytes()
            // Without the end, whatever follows.
            let isWhole = prefix.bytes.withUnsafeBytes { key.append(escaping: $0, limit: Int.max) }
            if isWhole { key.truncate(to: key.count - 1) }
            range = range.intersection(KeyRange(prefix: key.bytes))
        }
        if range == .all { return draft }
        // A bound longer than any ID is only tested.
        let isExact = (low == nil) == (constraint.lower == nil) && (high == nil) == (constraint.upper == nil)
        if isExact { draft.residual = remaining(conjuncts, but: constraint) }
        draft.source = .table(range: range)
        draft.candidates = try count(
            entity.records, [range], total, ordered: draft.isOrdered, tests: !draft.residual.isEmpty)
        return draft
    }

    /// Whether what comes in ID order comes in the requested one.
    var isIDOrder: Bool { isOrderFree || order.isByKey(of: entity) }

    func remaining(_ conjuncts: [Filter], but constraint: Constraint?) -> [Filter] {
        guard let constraint else { return conjuncts }
        // A prefix is a superset; a set joined with a range is only half used.
        let isHalfUsed =
            constraint.prefix != nil || (constraint.points != nil && constraint.isRange)
        if isHalfUsed { return conjuncts }
        return conjuncts.removing(at: constraint.sources)
    }
}

/// Who is told what a transaction reads, also by requests.
protocol PlanTracking: ReadTracking {
    func noteRequest(_ entity: StoredEntity, _ request: LoweredRequest)
}
