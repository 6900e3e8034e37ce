// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

extension SnapshotReading where Self: ~Copyable {
    /// The objects that the request describes, in its order.
    ///
    /// Where an index or the IDs give the order, rows are read one by one and the limit ends the reading; otherwise the
    /// matching objects are gathered and sorted, with a limit never more than twice as many at a time.
    ///
    /// Throws `predicateFailed` when the predicate has no value on an object that is looked at, `damaged` when a record cannot
    /// be read. With a limit, objects behind the last row need not be looked at.
    @inlinable
    public func fetch<T: Entity>(_ request: FetchDescriptor<T>) throws -> [T] {
        let context = context
        return try context.rows(T.self, try context.plan(request))
    }

    /// Calls `body` with one object after the other, in the request's order; none is kept. What `body` throws ends the
    /// reading and passes through.
    ///
    /// Inside a write `body` may change anything. The objects are those that the request describes when the walk begins, in
    /// the order that they have then, each once: their IDs are gathered first, eight bytes for an integer, beyond a MiB in a
    /// file without a name in the store's directory. Each object is given as it is when its turn comes, changed by `body` or
    /// not, and whether the predicate still holds or not; one that is gone by then is left out. Throws `diskFull` where that
    /// file finds no room; nothing has changed then, and `body` was not called.
    @inlinable
    public func forEach<T: Entity>(_ request: FetchDescriptor<T>, _ body: (T) throws -> Void) throws {
        let context = context
        let execution = try context.plan(request, context.isWriting ? .keys : .objects)
        let handle = execution.handle
        if context.isWriting { return try context.forEach(try context.gatherKeys(execution), handle, body) }
        try execution.forEachRow { key, record in
            try body(try T.decoded(key: key, record: record, handle: handle))
        }
    }

    /// The first object of the request's order, or nil: a fetch with a limit of 1.
    @inlinable
    public func first<T: Entity>(_ request: FetchDescriptor<T>) throws -> T? {
        let context = context
        return try context.rows(T.self, try context.planner(request, atMost: 1).best()).first
    }

    /// How many objects a fetch would give. Where an index says it, no object is looked at; nothing is decoded that the
    /// predicate does not need. Without a predicate it reads the table's count alone. Throws what a fetch does.
    public func count<T: Entity>(_ request: FetchDescriptor<T>) throws -> Int {
        try context.plan(request, .count).count()
    }

    /// The IDs that a fetch would give, in its order. Where an index says it, no object is looked at; objects are decoded
    /// only where the predicate or the order needs them. Throws what a fetch does.
    public func ids<T: Entity>(_ request: FetchDescriptor<T>) throws -> [T.ID] {
        let context = context
        // A text's spelling is in its record alone.
        return try context.ids(T.self, try context.plan(request, T.ID.isKeptInRecord ? .objects : .keys))
    }

    /// Runs the fetch and tells how: the plan, what it was expected to read and what it read. Costs and throws what the
    /// fetch does.
    public func explain<T: Entity>(_ request: FetchDescriptor<T>) throws -> Explanation {
        let context = context
        let execution = try context.plan(request)
        let before = context.transaction.counters
        let rows = try context.rows(T.self, execution).count
        return Explanation(execution, rows: rows, counters: context.transaction.counters - before)
    }
}

extension SnapshotContext {
    /// The cheapest plan for those who want so much of the rows.
    @inlinable
    func plan<T: Entity>(_ request: FetchDescriptor<T>, _ purpose: Planner.Purpose = .objects) throws -> Execution {
        try planner(request, purpose).best()
    }

    // MARK: Rows

    /// The objects of a plan, in the request's order.
    @inlinable
    func rows<T: Entity>(_: T.Type, _ execution: Execution) throws -> [T] {
        var objects: [T] = []
        objects.reserveCapacity(execution.expectedRows)
        let handle = execution.handle
        try execution.forEachRow(ahead: true) { key, record in
            objects.append(try T.decoded(key: key, record: record, handle: handle))
        }
        return objects
    }

    /// Whether the transaction can be written in while it is read.
    @usableFromInline var isWriting: Bool { transaction.isWrite }

    /// Gathers first and hands out then, without an open cursor (hazard 22): what `body` inserts, moves or deletes cannot
    /// disturb which rows come.
    @inlinable
    func forEach<T: Entity>(_ keys: GatheredKeys, _ handle: StoredEntity.Handle, _ body: (T) throws -> Void) throws {
        try keys.forEach { key in
            guard let record = try record(handle, key) else { return }
            try body(try T.decoded(key: key, record: record, handle: handle))
        }
    }

    // MARK: Keys

    /// The rows' keys, in the request's order.
    @usableFromInline
    func gatherKeys(_ execution: Execution) throws -> GatheredKeys { try GatheredKeys(execution) }

    /// The rows' IDs, in the request's order.
    func ids<T: Entity>(_: T.Type, _ execution: Execution) throws -> [T.ID] {
        var ids: [T.ID] = []
        let entity = execution.entity
        if T.ID.isKeptInRecord {
            try execution.forEachRow(ahead: true) { key, record in
                ids.append(
                    try entity.read(key: key, record: record, field: "id") { view in try T.ID.load(view.bytes(0)) })
            }
        } else {
            try execution.forEachKey { key in ids.append(try entity.readID(T.ID.self, key: key)) }
        }
        return ids
    }
}
