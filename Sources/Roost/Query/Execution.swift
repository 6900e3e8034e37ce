// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// A planned fetch, ready to run on one snapshot: the engine's half, which knows no Swift type.
///
/// A class, so that the closures of its loops share it: as a struct it would be copied for each row.
@usableFromInline
final class Execution {
    let plan: Plan
    let state: EntityState
    let order: RequestedOrder
    let engine: Engine
    let transaction: Transaction

    @usableFromInline let handle: EntityHandle

    init(plan: Plan, state: EntityState, order: RequestedOrder, engine: Engine, transaction: Transaction) {
        self.plan = plan
        self.state = state
        self.order = order
        self.engine = engine
        self.transaction = transaction
        handle = state.handle
    }

    /// Whether rows come out in the requested order, so that they need not be gathered first.
    @usableFromInline var isStreaming: Bool { plan.isOrdered }

    /// How many rows to make room for: no more than are expected, no more than a chunk.
    @usableFromInline var expectedRows: Int {
        max(0, min(plan.limit ?? plan.estimatedRows, plan.estimatedRows, 1_000))
    }

    /// Where a stream can go on: the last row's key in the source, and how much of offset and limit is used up.
    struct Position: Sendable {
        var after: [UInt8]?
        var skipped = 0
        var taken = 0
    }

    /// Calls `body` with key and record of each row of a streaming plan, offset and limit applied. The buffers are valid
    /// during the call.
    ///
    /// With `ahead`, some rows are found before the first of them is handed out; `body` must then leave the store alone.
    @usableFromInline
    func forEachRow(
        ahead: Bool = false, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if plan.residual.isEmpty {
            switch plan.source {
            case .table(.all) where plan.limit == nil && plan.offset == 0 && !plan.isReversed:
                return try forEachRecord(body)
            case .index(let index, let ranges) where ahead:
                return try forEachIndexed(index, ranges, body)
            default: break
            }
        }
        var position = Position()
        _ = try stream(from: &position, rows: Int.max, body)
    }

    /// Every record, in ID order: the whole table with nothing to test is worth a loop of its own.
    private func forEachRecord(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void) throws {
        do {
            var cursor = try transaction.cursor(state.records)
            try cursor.forEach(body)
        } catch {
            throw StoreError.wrapping(error, engine: engine)
        }
    }

    /// How many rows are found ahead: enough to hide the memory's delay, few enough to stay in the fastest cache.
    private static let rowsAhead = 32

    /// The rows behind the entries of an index, none of which is tested: a run of records is found, while the processor
    /// fetches their bytes, and then handed out. What the offset leaves out is not looked up.
    private func forEachIndexed(
        _ index: IndexState, _ ranges: [KeyRange],
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let lookup = transaction.lookup
        let records = state.records
        do {
            try withUnsafeTemporaryAllocation(
                of: (id: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer).self, capacity: Self.rowsAhead
            ) { run in
                var found = 0
                try forEachEntry(index, ranges) { id in
                    guard let record = try lookup.get(records, id) else { throw missingRecord() }
                    run[found] = (id, record)
                    found += 1
                    if found == run.count {
                        found = 0
                        for row in run { try body(row.id, row.record) }
                    }
                    return true
                }
                for row in run[..<found] { try body(row.id, row.record) }
            }
        } catch {
            throw StoreError.wrapping(error, engine: engine)
        }
    }

    /// The keys of the rows alone, offset and limit applied, from the entries of an index: no record is looked at. Returns
    /// false, and does nothing, where the plan tests records or has another source.
    ///
    /// `body` returns whether to go on.
    func forEachKey(_ body: (UnsafeRawBufferPointer) throws -> Bool) throws -> Bool {
        guard plan.residual.isEmpty, case .index(let index, let ranges) = plan.source else { return false }
        do {
            try forEachEntry(index, ranges, body)
        } catch {
            throw StoreError.wrapping(error, engine: engine)
        }
        return true
    }

    /// The IDs in an index's entries, offset and limit applied.
    @inline(__always)
    private func forEachEntry(
        _ index: IndexState, _ ranges: [KeyRange], _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let width = state.layout.idKeyWidth
        let isReversed = plan.isReversed
        var toSkip = plan.offset
        var left = plan.limit ?? Int.max
        if left == 0 { return }
        var cursor = try transaction.cursor(index.database)
        for range in isReversed ? ranges.reversed() : ranges where left > 0 {
            try range.withUnsafeBounds { lower, upper in
                var stands =
                    isReversed
                    ? try upper.map { try cursor.seek(below: $0) } ?? cursor.last() : try cursor.seek(atLeast: lower)
                while stands {
                    let entry = cursor.key
                    if isReversed {
                        if StoredOrder.of(entry, lower) == .less { return }
                    } else if let upper, StoredOrder.of(entry, upper) != .less {
                        return
                    }
                    if toSkip > 0 {
                        toSkip -= 1
                    } else {
                        guard let id = index.id(inEntry: entry, width: width) else { throw missingRecord() }
                        left = try body(id) ? left - 1 : 0
                        if left == 0 { return }
                    }
                    stands = try isReversed ? cursor.previous() : cursor.next()
                }
            }
        }
    }

    /// Goes on from `position` for at most `rows` rows. Returns whether there may be more.
    func stream(
        from position: inout Position, rows: Int,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        let limit = plan.limit ?? Int.max
        if position.taken >= limit { return false }
        var left = min(rows, limit - position.taken)
        var skipped = position.skipped
        var last: [UInt8]?
        try forEachMatch(after: position.after) { source, key, record in
            if skipped < plan.offset {
                skipped += 1
                return true
            }
            try body(key, record)
            left -= 1
            if left == 0 { last = Array(source) }
            return left > 0
        }
        position.skipped = skipped
        guard let last else { return false }
        position.after = last
        position.taken += min(rows, limit - position.taken)
        return position.taken < limit
    }

    // MARK: Sources

    /// Calls `body` with each candidate that passes the plan's tests, in the source's order, until it returns false: the
    /// key in the source, the record's key and the record.
    func forEachMatch(
        after: [UInt8]? = nil,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        do {
            switch plan.source {
            case .nothing: return
            case .lookup(let keys): try lookUp(keys, after, body)
            case .table(let range):
                var cursor = try transaction.cursor(state.records)
                try scan(&cursor, range, after) { key, record in
                    guard try passes(key, record) else { return true }
                    return try body(key, key, record)
                }
            case .index(let index, let ranges):
                var cursor = try transaction.cursor(index.database)
                let lookup = transaction.lookup
                let records = state.records
                let width = state.layout.idKeyWidth
                var goesOn = true
                for range in plan.isReversed ? ranges.reversed() : ranges where goesOn {
                    try scan(&cursor, range, after) { entry, _ in
                        guard let id = index.id(inEntry: entry, width: width),
                            let record = try lookup.get(records, id)
                        else { throw missingRecord() }
                        guard try passes(id, record) else { return true }
                        goesOn = try body(entry, id, record)
                        return goesOn
                    }
                }
            }
        } catch {
            throw StoreError.wrapping(error, engine: engine)
        }
    }

    private func lookUp(
        _ keys: [[UInt8]], _ after: [UInt8]?,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        for key in plan.isReversed ? keys.reversed() : keys {
            if let after,
                plan.isReversed ? !key.lexicographicallyPrecedes(after) : !after.lexicographicallyPrecedes(key)
            {
                continue
            }
            let goesOn = try key.withUnsafeBytes { key in
                guard let record = try transaction.get(state.records, key), try passes(key, record) else { return true }
                return try body(key, key, record)
            }
            if !goesOn { return }
        }
    }

    /// Moves over the entries of a range in the plan's direction, behind `after` if that is given, until `body` returns
    /// false.
    @inline(__always)
    private func scan(
        _ cursor: inout Cursor, _ range: KeyRange, _ after: [UInt8]?,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        if plan.isReversed {
            var upper = range.upper
            if let after { upper = upper.map { $0.lexicographicallyPrecedes(after) ? $0 : after } ?? after }
            var stands =
                if let upper { try upper.withUnsafeBytes { try cursor.seek(below: $0) } } else { try cursor.last() }
            while stands, range.contains(above: cursor.key) {
                guard try body(cursor.key, cursor.value) else { return }
                stands = try cursor.previous()
            }
        } else {
            var lower = range.lower
            if let after, lower.lexicographicallyPrecedes(after) || lower == after { lower = after + [0] }
            var stands = try lower.withUnsafeBytes { try cursor.seek(atLeast: $0) }
            while stands, range.contains(below: cursor.key) {
                guard try body(cursor.key, cursor.value) else { return }
                stands = try cursor.next()
            }
        }
    }

    @inline(__always)
    private func passes(_ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) throws -> Bool {
        if plan.residual.isEmpty { return true }
        return try test(key, record)
    }

    private func test(_ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) throws -> Bool {
        do {
            let view = try RecordView(key: key, record: record, layout: state.layout)
            for filter in plan.residual where try !filter.matches(view) { return false }
            return true
        } catch let failure as RecordFailure {
            throw state.damaged(failure, key: key, record: record)
        }
    }

    /// The error of an index that names an object that does not exist.
    func missingRecord() -> StoreError {
        var place = "The source"
        if case .index(let index, _) = plan.source { place = "Index \(index.name)" }
        return StoreError(.damaged, "\(place) has an entry for an object that does not exist.", entity: state.name)
    }
}
