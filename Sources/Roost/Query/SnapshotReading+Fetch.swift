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
        return try context.rows(request, try context.plan(request))
    }

    /// Calls `body` with one object after the other, in the request's order; none is kept. What `body` throws ends the
    /// reading and passes through.
    ///
    /// Inside a write `body` may change anything. The objects are those that the request describes when the walk begins, in
    /// the order that they have then, each once: their IDs are gathered first, eight bytes for an integer. Each object is
    /// given as it is when its turn comes, changed by `body` or not, and whether the predicate still holds or not; one that
    /// is gone by then is left out.
    @inlinable
    public func forEach<T: Entity>(_ request: FetchDescriptor<T>, _ body: (T) throws -> Void) throws {
        let context = context
        let execution = try context.plan(request)
        if context.isWriting { return try context.forEachGathered(request, execution, body) }
        guard execution.isStreaming else {
            for object in try context.sorted(request, execution) { try body(object) }
            return
        }
        let handle = execution.handle
        try execution.forEachRow { key, record in
            try body(try T.decoded(key: key, record: record, handle: handle))
        }
    }

    /// The first object of the request's order, or nil: a fetch with a limit of 1.
    @inlinable
    public func first<T: Entity>(_ request: FetchDescriptor<T>) throws -> T? {
        var request = request
        request.fetchLimit = min(1, request.fetchLimit.map { $0 < 0 ? 1 : $0 } ?? 1)
        return try fetch(request).first
    }

    /// How many objects a fetch would give. Where an index says it, no object is looked at; nothing is decoded that the
    /// predicate does not need. Without a predicate it reads the table's count alone. Throws what a fetch does.
    public func count<T: Entity>(_ request: FetchDescriptor<T>) throws -> Int {
        try context.count(request)
    }

    /// The IDs that a fetch would give, in its order. Where an index says it, no object is looked at; objects are decoded
    /// only where the predicate or the order needs them. Throws what a fetch does.
    public func ids<T: Entity>(_ request: FetchDescriptor<T>) throws -> [T.ID] {
        let context = context
        return try context.ids(request, try context.plan(request))
    }

    /// Runs the fetch and tells how: the plan, what it was expected to read and what it read. Costs and throws what the
    /// fetch does.
    public func explain<T: Entity>(_ request: FetchDescriptor<T>) throws -> Explanation {
        let transaction = context.transaction
        let execution = try context.plan(request)
        let before = transaction.counters
        let rows = try context.rows(request, execution).count
        return Explanation(execution.plan, execution.state, rows: rows, counters: transaction.counters - before)
    }
}

extension SnapshotContext {
    @inlinable
    func plan<T: Entity>(_ request: FetchDescriptor<T>) throws -> Execution { try planner(request).best() }

    /// Inlinable, so that the request's parts are taken out of it by specialised code.
    @inlinable
    func planner<T: Entity>(_ request: FetchDescriptor<T>) throws -> Planner {
        let binding = try binding(ObjectIdentifier(T.self), T.entityName)
        var planner = Planner(self, binding, limit: request.fetchLimit, offset: request.fetchOffset)
        if let predicate = request.predicate { try planner.restrict(to: predicate, binding) }
        for descriptor in request.sortBy {
            planner.sort(by: descriptor.plainKeyPath, descending: descriptor.order == .reverse, binding)
        }
        return planner
    }

    func count<T: Entity>(_ request: FetchDescriptor<T>) throws -> Int {
        let offset = max(0, request.fetchOffset ?? 0)
        let limit = request.fetchLimit.flatMap { $0 < 0 ? nil : $0 } ?? Int.max
        if limit == 0 { return 0 }
        var unordered = request
        unordered.sortBy = []
        unordered.fetchLimit = nil
        unordered.fetchOffset = nil
        let execution = try plan(unordered)
        var count = 0
        if case .table(.all) = execution.plan.source, execution.plan.residual.isEmpty {
            do {
                count = try transaction.statistics(of: execution.state.records).entries
            } catch {
                throw StoreError.wrapping(error, engine: store.engine)
            }
        } else {
            func goesOn() -> Bool {
                count += 1
                return count < offset || count - offset < limit
            }
            if try !execution.forEachKey({ _ in goesOn() }) {
                try execution.forEachMatch { _, _, _ in goesOn() }
            }
        }
        return min(limit, max(0, count - offset))
    }

    // MARK: Rows

    /// The objects of a plan, in the request's order.
    @inlinable
    func rows<T: Entity>(_ request: FetchDescriptor<T>, _ execution: Execution) throws -> [T] {
        guard execution.isStreaming else { return try sorted(request, execution) }
        var objects: [T] = []
        objects.reserveCapacity(execution.expectedRows)
        let handle = execution.handle
        try execution.forEachRow(ahead: true) { key, record in
            objects.append(try T.decoded(key: key, record: record, handle: handle))
        }
        return objects
    }

    /// A row on its way to its place. The segments are the keys of the criteria that keys can express.
    private struct Row<T> {
        let object: T
        let segments: [[UInt8]]
        let id: [UInt8]
    }

    /// The objects of a plan that does not give the order.
    @usableFromInline
    func sorted<T: Entity>(_ request: FetchDescriptor<T>, _ execution: Execution) throws -> [T] {
        try sortedRows(request, execution) { (view) throws in
            try T.decoded(key: view.key, record: view.record, handle: execution.handle)
        }.map(\.object)
    }

    private func sortedRows<T: Entity, Payload>(
        _ request: FetchDescriptor<T>, _ execution: Execution, _ payload: (RecordView) throws -> Payload
    ) throws -> [(object: Payload, id: [UInt8])] {
        let state = execution.state
        let limit = execution.plan.limit.map { $0 + execution.plan.offset }
        if let fields = execution.order.fields {
            return try execution.gathered(by: fields, payload)
        }
        let binding = try store.binding(of: T.self)
        let terms = SortTerm<T>.terms(request.sortBy, binding)
        let writer = SortKeyWriter(fields: [], idDescending: execution.order.idDescending, layout: state.layout)
        var rows = SortedRows<(row: Row<T>, object: Payload)>(limit: limit) {
            Self.precedes($0.row, $1.row, terms)
        }
        var key = KeyBytes()
        try execution.forEachView { view in
            var segments: [[UInt8]] = []
            for case .field(let position, let descending) in terms {
                key.removeAll()
                try writer.append(FieldSort(position: position, descending: descending), view, to: &key)
                segments.append(key.bytes)
            }
            key.removeAll()
            try writer.append(view, to: &key)
            let object = try T.decoded(key: view.key, record: view.record, handle: state.handle)
            rows.add((Row(object: object, segments: segments, id: key.bytes), try payload(view)))
        }
        return rows.finish(offset: execution.plan.offset).map { entry in
            let id = execution.order.idDescending ? entry.row.id.map { ~$0 } : entry.row.id
            return (entry.object, id)
        }
    }

    private static func precedes<T>(_ a: Row<T>, _ b: Row<T>, _ terms: [SortTerm<T>]) -> Bool {
        var segment = 0
        for term in terms {
            switch term {
            case .field:
                if a.segments[segment] != b.segments[segment] {
                    return a.segments[segment].precedesAsKey(b.segments[segment])
                }
                segment += 1
            case .object(let descriptor):
                switch descriptor.compare(a.object, b.object) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: break
                }
            }
        }
        return a.id.precedesAsKey(b.id)
    }

    // MARK: IDs

    // MARK: Keys

    /// Whether the transaction can be written in while it is read.
    @usableFromInline var isWriting: Bool { transaction.isWrite }

    /// Hands out the rows without an open cursor (hazard 22): what `body` inserts, moves or deletes cannot disturb which
    /// rows come.
    @inlinable
    func forEachGathered<T: Entity>(
        _ request: FetchDescriptor<T>, _ execution: Execution, _ body: (T) throws -> Void
    ) throws {
        let keys = try recordKeys(request, execution)
        let handle = execution.handle
        for index in 0..<keys.count {
            let object = try keys.withKey(index) { key in
                try record(handle, key).map { try T.decoded(key: key, record: $0, handle: handle) }
            }
            if let object { try body(object) }
        }
    }

    /// The rows' keys, in the request's order. Where an index says it, no record is looked at.
    @usableFromInline
    func recordKeys<T: Entity>(_ request: FetchDescriptor<T>, _ execution: Execution) throws -> KeyList {
        var keys = KeyList(width: execution.state.layout.idKeyWidth)
        if execution.isStreaming {
            let isKnown = try execution.forEachKey { key in
                keys.append(key)
                return true
            }
            if !isKnown { try execution.forEachRow { key, _ in keys.append(key) } }
        } else {
            for row in try sortedRows(request, execution, { _ in }) { row.id.withUnsafeBytes { keys.append($0) } }
        }
        return keys
    }

    /// The rows' IDs, in the request's order.
    func ids<T: Entity>(_ request: FetchDescriptor<T>, _ execution: Execution) throws -> [T.ID] {
        guard execution.isStreaming else {
            return try sortedRows(request, execution) { try Self.id(T.self, $0) }.map(\.object)
        }
        var ids: [T.ID] = []
        let isKnown =
            try !T.ID.isKeptInRecord
            && execution.forEachKey { key in
                do throws(RecordFailure) {
                    ids.append(try T.ID.load(key: key))
                    return true
                } catch {
                    throw execution.state.damaged(error, key: key, record: nil, field: "id")
                }
            }
        if isKnown { return ids }
        try execution.forEachRow { key, record in
            do {
                ids.append(
                    try Self.id(T.self, RecordView(key: key, record: record, layout: execution.state.layout)))
            } catch let failure as RecordFailure {
                throw execution.state.damaged(failure, key: key, record: record, field: "id")
            }
        }
        return ids
    }

    static func id<T: Entity>(_ type: T.Type, _ view: RecordView) throws(RecordFailure) -> T.ID {
        T.ID.isKeptInRecord ? try T.ID.load(view.bytes(0)) : try T.ID.load(key: view.key)
    }
}
