// SPDX-License-Identifier: Apache-2.0

/// The objects of a result in their order. Of a window, those before it as well, and some behind it, so that the next
/// can move up: how far is known to `bound`.
struct MaintainedRows<T: Entity>: MaintainedResult {
    static var appliesProgramCode: Bool { true }
    static var takesProgramCode: Bool { true }

    /// A window whose offset is greater is fetched anew.
    static var mostOffset: Int { 10_000 }

    private let binding: EntityBinding
    private let request: LoweredRequest
    private let window: Window?
    /// Where keys do not express the order, a row's place stands for it.
    private let isKeyed: Bool

    private var rows = RowChunks<T>()
    /// By ID key.
    private var keys: [[UInt8]: [UInt8]] = [:]
    /// All rows up to this key are held; nil where they are all there are.
    private var bound: [UInt8]?
    /// How to read on behind `bound`.
    private var rest: (plan: Plan, position: Execution.Position)?

    /// What the consumer has; nil before the first value.
    private var given: LiveObjects<T>?
    /// By ID key, the keys that rows which have changed since then had, nil where there was none.
    private var changed: [[UInt8]: [UInt8]?] = [:]
    /// Whether any row may have changed.
    private var isReplaced = true

    private struct Window {
        let offset: Int
        let limit: Int
        var end: Int { offset + limit }
        /// How many rows behind the end are held.
        var reserve: Int { max(16, limit / 2) }
    }

    init(_ binding: EntityBinding, _ request: LoweredRequest, isKeyed: Bool) {
        self.binding = binding
        self.request = request
        self.isKeyed = isKeyed
        window = isKeyed ? request.limit.map { Window(offset: request.offset, limit: $0) } : nil
    }

    // MARK: Reading

    mutating func load(_ context: SnapshotContext) throws {
        var loaded = RowChunks<T>()
        var keys: [[UInt8]: [UInt8]] = [:]
        (bound, rest) = (nil, nil)
        isReplaced = true
        if let window {
            let wanted = window.end + window.reserve
            if window.limit > 0 {
                try read(
                    LoweredRequest(filter: request.filter, order: request.order, limit: wanted, offset: nil), context
                ) {
                    loaded.append($0)
                    keys[$0.id] = $0.key
                }
            }
        } else {
            let request =
                isKeyed
                ? LoweredRequest(filter: request.filter, order: request.order, limit: nil, offset: nil) : request
            let execution = try Planner(context, binding, request, .objects).best()
            try execution.forEachRow(ahead: true) { key, record in
                let row = try row(key, record, place: loaded.count)
                loaded.append(row)
                keys[row.id] = row.key
            }
        }
        rows = loaded
        self.keys = keys
    }

    /// Reads the beginning of the order, and notes how far it came.
    private mutating func read(
        _ request: LoweredRequest, _ context: SnapshotContext, _ body: (RowChunks<T>.Row) -> Void
    ) throws {
        let execution = try Planner(context, binding, request, .objects).best()
        var last: [UInt8]?
        var count = 0
        func add(_ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) throws {
            let row = try row(key, record, place: 0)
            last = row.key
            count += 1
            body(row)
        }
        if execution.plan.isOrdered {
            var position = Execution.Position()
            _ = try execution.stream(from: &position, rows: .max, add)
            if position.after != nil { rest = (execution.plan, position) }
        } else {
            try execution.forEachRow(ahead: true, add)
        }
        bound = count < request.limit ?? .max ? nil : last
    }

    private func row(
        _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, place: Int
    ) throws -> RowChunks<T>.Row {
        let order = try isKeyed ? orderKey(key, record) : placeKey(place, key)
        return RowChunks<T>.Row(
            key: order, id: Array(key), version: Self.version(of: record),
            object: try T.decoded(key: key, record: record, handle: binding.entity.handle))
    }

    private func orderKey(_ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) throws -> [UInt8] {
        var order = KeyBytes()
        try binding.entity.read(key: key, record: record) { try request.order.appendKey(of: $0, to: &order) }
        return order.bytes
    }

    private func placeKey(_ place: Int, _ key: UnsafeRawBufferPointer) -> [UInt8] {
        var order = KeyBytes()
        order.append(uint: UInt64(place))
        order.append(key)
        return order.bytes
    }

    /// Multiply and fold, eight bytes a step: two records that differ have the same once in 2^64 times.
    static func version(of record: UnsafeRawBufferPointer) -> UInt64 {
        func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
            let product = (a ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: b ^ 0xD6E8_FEB8_6659_FD93)
            return product.high ^ product.low
        }
        var state = UInt64(record.count)
        var offset = 0
        while offset + 8 <= record.count {
            state = mix(state, record.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var tail: UInt64 = 0
        while offset < record.count {
            tail = tail << 8 | UInt64(record[offset])
            offset += 1
        }
        return mix(state, tail)
    }

    // MARK: Changes

    mutating func apply(_ key: [UInt8], old: UnsafeRawBufferPointer?, new: UnsafeRawBufferPointer?) throws {
        try key.withUnsafeBytes { bytes in
            guard let new, try matches(bytes, new) else { return put(key, nil) }
            let order = try orderKey(bytes, new)
            if let bound, bound.isBelow(order) { return put(key, nil) }
            let version = Self.version(of: new)
            if keys[key] == order, rows.row(order)?.version == version { return }
            let object = try T.decoded(key: bytes, record: new, handle: binding.entity.handle)
            put(key, RowChunks<T>.Row(key: order, id: key, version: version, object: object))
        }
    }

    private func matches(_ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) throws -> Bool {
        if window?.limit == 0 { return false }
        return try binding.entity.read(key: key, record: record) { try request.filter.matches($0) }
    }

    mutating func catchUp(_ row: EntityChanges.Row, isExact: Bool, _ context: SnapshotContext) throws -> Bool {
        try row.key.withUnsafeBytes { key in
            let record = try context.record(binding.entity.handle, key)
            try apply(row.key, old: nil, new: record)
        }
        return true
    }

    /// Gives the object its row, or none.
    private mutating func put(_ id: [UInt8], _ row: RowChunks<T>.Row?) {
        let old = keys[id]
        if row == nil && old == nil { return }
        if !isReplaced, changed[id] == nil { changed[id] = .some(old) }
        if let old, old != row?.key { rows.remove(old) }
        keys[id] = row?.key
        if let row { rows.put(row) }
        if let window, rows.count > window.end + 2 * window.reserve + 1_024 { cut(to: window.end + window.reserve) }
    }

    /// Forgets the rows that are farthest behind a window.
    private mutating func cut(to count: Int) {
        while rows.count > count, let last = rows.last {
            if !isReplaced, changed[last.id] == nil { changed[last.id] = .some(last.key) }
            keys[last.id] = nil
            rows.remove(last.key)
        }
        bound = rows.last?.key
        rest = nil
    }

    // MARK: Windows

    var isShort: Bool {
        guard let window, bound != nil else { return false }
        return rows.count < window.end
    }

    mutating func refill(_ context: SnapshotContext) throws {
        guard let window, isShort else { return }
        let wanted = window.end + window.reserve
        guard let (plan, start) = rest else {
            // Nothing says where in the source the rows behind the last begin: the objects are read from the beginning.
            var read: [RowChunks<T>.Row] = []
            try self.read(
                LoweredRequest(filter: request.filter, order: request.order, limit: wanted, offset: nil), context
            ) {
                read.append($0)
            }
            for row in read where keys[row.id] == nil { put(row.id, row) }
            return
        }
        let missing = wanted - rows.count
        var position = start
        let request = LoweredRequest(
            filter: request.filter, order: request.order, limit: position.taken + missing, offset: nil)
        let execution = Execution(
            plan: plan, request: request, entity: binding.entity, engine: context.store.engine,
            transaction: context.transaction)
        var read: [RowChunks<T>.Row] = []
        _ = try execution.stream(from: &position, rows: missing) { key, record in
            read.append(try row(key, record, place: 0))
        }
        bound = read.count < missing ? nil : read.last?.key
        rest = (plan, position)
        for row in read { put(row.id, row) }
    }

    // MARK: Values

    var isChanged: Bool { given == nil || isReplaced || !changed.isEmpty }

    mutating func take(at sequence: UInt64) throws -> LiveResult<T>? {
        if !isChanged { return nil }
        rows.countPlaces()
        let objects = LiveObjects(rows, range)
        let difference = difference(to: objects)
        let isFirst = given == nil
        (given, changed, isReplaced) = (objects, [:], false)
        if difference.isEmpty && !isFirst { return nil }
        return LiveResult(objects: objects, difference: difference, sequence: sequence)
    }

    private var range: Range<Int> {
        guard let window else { return 0..<rows.count }
        let start = min(window.offset, rows.count)
        return start..<min(window.end, rows.count)
    }

    mutating func follow(_ earlier: Self) {
        given = earlier.given
        isReplaced = true
    }

    private func difference(to new: LiveObjects<T>) -> LiveDifference {
        let old = given ?? LiveObjects(RowChunks(), 0..<0)
        var difference = RowDifference()
        /// `keys`: of the row in the old result, and in the new.
        func add(_ keys: (old: [UInt8]?, new: [UInt8]?)) {
            let places = (old: keys.old.flatMap { old.place(of: $0) }, new: keys.new.flatMap { new.place(of: $0) })
            var hasOtherVersion = false
            if let before = places.old, let after = places.new {
                hasOtherVersion =
                    old.rows[old.range.lowerBound + before].version != new.rows[new.range.lowerBound + after].version
            }
            difference.add(
                old: places.old, new: places.new, hasOtherKey: keys.old != keys.new, hasOtherVersion: hasOtherVersion)
        }
        if isReplaced || (window.map { 4 * changed.count >= $0.limit } ?? false) {
            var known: [[UInt8]: [UInt8]] = [:]
            known.reserveCapacity(old.count)
            old.rows.forEach(old.range) { _, row in known[row.id] = row.key }
            new.rows.forEach(new.range) { _, row in add((known.removeValue(forKey: row.id), row.key)) }
            for (_, key) in known { add((key, nil)) }
            return difference.difference()
        }
        for (id, key) in changed { add((key, keys[id])) }
        if window == nil { return difference.difference() }
        // Rows that have not changed come and go at a window's edges, no farther from them than there are changes.
        var seen: Set<[UInt8]> = []
        for part in [old, new] {
            for edge in [part.range.lowerBound, part.range.upperBound] {
                let places = max(0, edge - changed.count)..<min(part.rows.count, edge + changed.count)
                if places.isEmpty { continue }
                part.rows.forEach(places) { _, row in
                    if changed[row.id] == nil, seen.insert(row.key).inserted { add((row.key, row.key)) }
                }
            }
        }
        return difference.difference()
    }
}

extension LiveObjects {
    /// Where in the result the row with this key is.
    fileprivate func place(of key: [UInt8]) -> Int? {
        guard let place = rows.place(of: key), range.contains(place) else { return nil }
        return place - range.lowerBound
    }
}
