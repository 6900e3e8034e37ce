// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// Where an execution's rows come from.
extension Execution {
    /// Calls `body` with each candidate, in the source's order, until it returns false: the key in the source, the record's
    /// key and the record.
    @inline(__always)
    func forEachCandidate(
        after: [UInt8]? = nil, skip: Int = 0,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        switch plan.source {
        case .nothing: return
        case .lookup(let keys): try forEachFound(keys, after: after, skip: skip, body)
        case .table(let range):
            let walker = RangeWalker(
                database: entity.records, ranges: [range], isReversed: plan.isReversed, after: after, skip: skip)
            try walker.forEach(in: transaction) { key, record in try body(key, key, record) }
        case .index(let index, let ranges):
            let lookup = transaction.lookup
            let records = entity.records
            try forEachID(index, ranges, after: after, skip: skip) { entry, id in
                guard let record = try lookup.get(records, id) else { throw missingRecord() }
                return try body(entry, id, record)
            }
        }
    }

    private func forEachFound(
        _ keys: [[UInt8]], after: [UInt8]?, skip: Int,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var toSkip = skip
        for number in keys.indices {
            let key = keys[plan.isReversed ? keys.count - 1 - number : number]
            if let after,
                plan.isReversed ? !key.lexicographicallyPrecedes(after) : !after.lexicographicallyPrecedes(key)
            {
                continue
            }
            let goesOn = try key.withUnsafeBytes { key in
                guard let record = try transaction.get(entity.records, key) else { return true }
                if toSkip > 0 {
                    toSkip -= 1
                    return true
                }
                return try body(key, key, record)
            }
            if !goesOn { return }
        }
    }

    /// The entries of an index with the IDs that they name.
    @inline(__always)
    private func forEachID(
        _ index: StoredIndex, _ ranges: [KeyRange], after: [UInt8]?, skip: Int,
        _ body: (_ entry: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let width = entity.layout.idKeyWidth
        let walker = RangeWalker(
            database: index.database, ranges: ranges, isReversed: plan.isReversed, after: after, skip: skip)
        try walker.forEach(in: transaction) { entry, _ in
            guard let id = index.id(inEntry: entry, width: width) else { throw missingRecord() }
            return try body(entry, id)
        }
    }

    /// The IDs in an index's entries, in the plan's direction.
    @inline(__always)
    func forEachID(
        _ index: StoredIndex, _ ranges: [KeyRange], skip: Int = 0, _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try forEachID(index, ranges, after: nil, skip: skip) { _, id in try body(id) }
    }

    // MARK: Tests

    @inline(__always)
    func passes(_ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) throws -> Bool {
        if plan.residual.isEmpty { return true }
        return try test(key, record)
    }

    private func test(_ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) throws -> Bool {
        try entity.read(key: key, record: record) { view in
            for filter in plan.residual where try !filter.matches(view) { return false }
            return true
        }
    }

    // MARK: Look-ups of many

    /// How many records are looked up at once: enough to hide the memory's delay, few enough to stay in the fastest cache.
    private static var rowsAhead: Int { 32 }

    /// The rows behind the entries of an index, none of which is tested.
    func forEachIndexedRow(
        _ index: StoredIndex, _ ranges: [KeyRange],
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var left = request.limit ?? Int.max
        try withRun(of: min(left, Self.rowsAhead)) { run in
            try forEachID(index, ranges, skip: request.offset) { id in
                if run.append(id) { try find(&run, body) }
                left -= 1
                return left > 0
            }
            try find(&run, body)
        }
    }

    /// Rows that have been sorted; those of which only the IDs are known are looked up.
    func forEachRow(
        _ rows: SortedRows, ahead: Bool, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try rows.keys.withUnsafeKeys { keys in
            guard let records = rows.records else {
                return try withRun(of: ahead ? Self.rowsAhead : 1) { run in
                    for index in 0..<keys.count where run.append(keys[index]) { try find(&run, body) }
                    try find(&run, body)
                }
            }
            for index in 0..<keys.count { try body(keys[index], records[index]) }
        }
    }

    /// Keys that are looked up together; their bytes stay where they are until then.
    private struct Run {
        let keys: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
        let records: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
        var count = 0

        /// Returns whether it is full.
        @inline(__always)
        mutating func append(_ key: UnsafeRawBufferPointer) -> Bool {
            keys.initializeElement(at: count, to: key)
            count += 1
            return count == keys.count
        }
    }

    @inline(__always)
    private func withRun(of size: Int, _ body: (inout Run) throws -> Void) throws {
        try withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 2 * max(1, size)) { memory in
            let half = memory.count / 2
            var run = Run(
                keys: UnsafeMutableBufferPointer(rebasing: memory[..<half]),
                records: UnsafeMutableBufferPointer(rebasing: memory[half...]))
            try body(&run)
        }
    }

    /// Looks up what the run holds, hands it out and empties it.
    private func find(
        _ run: inout Run, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard run.count > 0, let records = run.records.baseAddress else { return }
        let keys = UnsafeBufferPointer(rebasing: run.keys[..<run.count])
        if keys.count == 1 {
            guard let record = try transaction.get(entity.records, keys[0]) else { throw missingRecord() }
            try body(keys[0], record)
        } else {
            try transaction.lookup.get(entity.records, keys, records)
            for index in keys.indices {
                guard records[index].baseAddress != nil else { throw missingRecord() }
                try body(keys[index], records[index])
            }
        }
        run.count = 0
    }

    /// The error of an index that names an object that does not exist.
    func missingRecord() -> StoreError {
        var place = "The source"
        if case .index(let index, _) = plan.source { place = "Index \(index.name)" }
        return StoreError(
            .damaged, "\(place) has an entry for an object that does not exist: Store.repair removes it.",
            entity: entity.name)
    }
}
