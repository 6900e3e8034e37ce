// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// A planned request, ready to run on one snapshot: the engine's half, which knows no Swift type.
///
/// A class, so that the closures of its loops share it: as a struct it would be copied for each row.
@usableFromInline
final class Execution {
    let plan: Plan
    let request: LoweredRequest
    let entity: StoredEntity
    let engine: Engine
    let transaction: Transaction

    @usableFromInline let handle: StoredEntity.Handle

    init(plan: Plan, request: LoweredRequest, entity: StoredEntity, engine: Engine, transaction: Transaction) {
        self.plan = plan
        self.request = request
        self.entity = entity
        self.engine = engine
        self.transaction = transaction
        handle = entity.handle
    }

    /// How many rows to make room for: no more than are expected, no more than a chunk.
    @usableFromInline var expectedRows: Int {
        max(0, min(request.limit ?? plan.estimatedRows, plan.estimatedRows, 1_000))
    }

    // MARK: Rows

    /// Calls `body` with key and record of each row, in the request's order, offset and limit applied. The buffers are valid
    /// during the call, and `body` must not write (hazard 22).
    ///
    /// With `ahead`, some records are looked up before the first of them is handed out: for those who want every row.
    @usableFromInline
    func forEachRow(
        ahead: Bool = false, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if !plan.isOrdered {
            let rows = try sortedRows()
            return try wrappingErrors { try forEachRow(rows, ahead: ahead, body) }
        }
        if ahead, plan.residual.isEmpty, case .index(let index, let ranges) = plan.source {
            return try wrappingErrors { try forEachIndexedRow(index, ranges, body) }
        }
        if isWholeTable {
            return try wrappingErrors { try RangeWalker.forEachEntry(of: entity.records, in: transaction, body) }
        }
        var position = Position()
        _ = try stream(from: &position, rows: Int.max, body)
    }

    /// Whether the rows are all records as they lie in the file.
    private var isWholeTable: Bool {
        guard case .table(.all) = plan.source else { return false }
        return plan.residual.isEmpty && !plan.isReversed && request.limit == nil && request.offset == 0
    }

    /// The keys of the rows alone, in the request's order, offset and limit applied. Where an index says them, no record is
    /// looked at.
    func forEachKey(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        if !plan.isOrdered {
            let keys = try sortedRows().keys
            for index in 0..<keys.count { try keys.withKey(index, body) }
        } else if plan.residual.isEmpty, case .index(let index, let ranges) = plan.source {
            try wrappingErrors {
                var left = request.limit ?? Int.max
                try forEachID(index, ranges, skip: request.offset) { id in
                    try body(id)
                    left -= 1
                    return left > 0
                }
            }
        } else {
            try forEachRow { key, _ in try body(key) }
        }
    }

    /// How many rows there are, whatever their order, offset and limit applied.
    func count() throws -> Int {
        let most = request.limit.map { $0 + request.offset } ?? Int.max
        let count = try wrappingErrors {
            switch plan.source {
            case .nothing: return 0
            case .table(.all) where plan.residual.isEmpty:
                return try transaction.statistics(of: entity.records).entries
            case .table(let range) where plan.residual.isEmpty:
                return try RangeWalker(database: entity.records, ranges: [range]).count(in: transaction, upTo: most)
            case .index(let index, let ranges) where plan.residual.isEmpty:
                return try RangeWalker(database: index.database, ranges: ranges).count(in: transaction, upTo: most)
            default:
                var count = 0
                try forEachCandidate { _, key, record in
                    if try passes(key, record) { count += 1 }
                    return count < most
                }
                return count
            }
        }
        return max(0, min(count, most) - request.offset)
    }

    // MARK: Streams

    /// Where a stream can go on: the last row's key in the source, and how many rows there were so far.
    struct Position: Sendable {
        var after: [UInt8]?
        var taken = 0
    }

    /// Goes on from `position` for at most `rows` rows of a plan that gives the order. Returns whether there may be more.
    func stream(
        from position: inout Position, rows: Int,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        let limit = request.limit ?? Int.max
        if position.taken >= limit { return false }
        let wanted = min(rows, limit - position.taken)
        var left = wanted
        // Who goes on is behind the offset. What is not tested is passed by the walk itself.
        let offset = position.after == nil ? request.offset : 0
        let tests = !plan.residual.isEmpty
        var toSkip = tests ? offset : 0
        var last: [UInt8]?
        try wrappingErrors {
            try forEachCandidate(after: position.after, skip: tests ? 0 : offset) { source, key, record in
                if tests {
                    guard try passes(key, record) else { return true }
                    if toSkip > 0 {
                        toSkip -= 1
                        return true
                    }
                }
                try body(key, record)
                left -= 1
                if left == 0 { last = Array(source) }
                return left > 0
            }
        }
        guard let last else { return false }
        position.after = last
        position.taken += wanted
        return position.taken < limit
    }

    @inline(__always)
    func wrappingErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw StoreError.wrapping(error, engine: engine) }
    }
}
