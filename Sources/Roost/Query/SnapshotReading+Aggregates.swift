// SPDX-License-Identifier: Apache-2.0

extension SnapshotReading where Self: ~Copyable {
    /// How many objects of the request's result have each value of a field; values that none has are not in it, and
    /// all NaNs are one. The field's values are compared where they lie, no object is built.
    ///
    /// Costs a look at each object of the result, and memory for each value. Throws `unknownField` where the key path
    /// names no field or one with several values, and what a fetch does.
    public func counts<T: Entity, Value: FieldValue>(
        _ request: FetchDescriptor<T>, by keyPath: KeyPath<T, Value> & Sendable
    ) throws -> [Value: Int] {
        let context = context
        let binding = try context.binding(ObjectIdentifier(T.self), T.entityName)
        var groups = GroupCounts(position: try binding.groupPosition(of: keyPath))
        try context.forEachView(binding, try LoweredRequest(request, binding)) { try groups.count($0, isAdded: true) }
        return try binding.namingField(groups.position) { try groups.counts(Value.self) }
    }

    /// What a field's values add up to over the request's result; nil values add nothing. Floating-point numbers are
    /// added without loss and rounded once, so that their order makes no difference. No object is built.
    ///
    /// Costs a look at each object of the result. Throws `sumOverflow` where the sum of integers does not fit in its
    /// type, `unknownField` where the key path names no field, and what a fetch does.
    public func sum<T: Entity, Value: SummableValue>(
        _ request: FetchDescriptor<T>, of keyPath: KeyPath<T, Value> & Sendable
    ) throws -> Value.Sum {
        let context = context
        let binding = try context.binding(ObjectIdentifier(T.self), T.entityName)
        let position = try binding.position(of: keyPath)
        var total = FieldSum()
        try context.forEachView(binding, try LoweredRequest(request, binding)) { view in
            total.add(try view.value(position), isAdded: true)
        }
        return try Value.sum(total)
    }
}

extension SnapshotContext {
    /// Calls `body` with each object of the result, as it lies in the map; in any order, unless that decides which
    /// ones they are.
    func forEachView(_ binding: EntityBinding, _ request: LoweredRequest, _ body: (RecordView) throws -> Void) throws {
        let isWhole = request.limit == nil && request.offset == 0
        let execution = try Planner(self, binding, request, isWhole ? .count : .objects).best()
        let entity = binding.entity
        try execution.forEachRow { key, record in try entity.read(key: key, record: record, body) }
    }
}

extension EntityBinding {
    /// The field that a key path names.
    func position(of keyPath: AnyKeyPath) throws -> Int {
        guard let field = field(of: keyPath) else {
            throw StoreError(
                .unknownField,
                "A key path of type \(Swift.type(of: keyPath)) names no field of \(entity.name): only a field itself can be counted or added up.",
                entity: entity.name)
        }
        return field.position
    }

    /// The field that a key path names, where objects can be counted by it.
    func groupPosition(of keyPath: AnyKeyPath) throws -> Int {
        let position = try position(of: keyPath)
        let field = entity.layout.fields[position]
        guard position > 0, field.scalar != nil else {
            throw StoreError(
                .unknownField,
                position == 0
                    ? "Objects cannot be counted by their ID: each has another."
                    : "Objects cannot be counted by \(field.name), which is an array: count by a field with one value.",
                entity: entity.name, field: field.name)
        }
        return position
    }

    /// Turns what says only that bytes cannot be read into the error that says of which field.
    func namingField<Result>(_ position: Int, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let failure as RecordFailure {
            let name = entity.layout.fields[position].name
            throw StoreError(
                .damaged,
                "An object of \(entity.name) has a value of \(name) that cannot be read: \(failure.explanation). A fetch names the object.",
                entity: entity.name, field: name)
        }
    }
}

extension Store {
    /// How many objects of the result have each value of a field; on this thread, in a snapshot of its own. Costs and
    /// throws what ``SnapshotReading/counts(_:by:)`` does.
    public func counts<T: Entity, Value: FieldValue>(
        _ request: FetchDescriptor<T>, by keyPath: KeyPath<T, Value> & Sendable
    ) throws -> [Value: Int] {
        try withExtendedLifetime(self) { try beginRead(file: #fileID, line: #line).counts(request, by: keyPath) }
    }

    /// The asynchronous form: runs on a thread of the store's, and ends with `CancellationError` when the task is
    /// cancelled.
    public func counts<T: Entity, Value: FieldValue>(
        _ request: FetchDescriptor<T>, by keyPath: KeyPath<T, Value> & Sendable
    ) async throws -> [Value: Int] {
        try await read { tx in try tx.counts(request, by: keyPath) }
    }

    /// What a field's values add up to over the result; on this thread, in a snapshot of its own. Costs and throws what
    /// ``SnapshotReading/sum(_:of:)`` does.
    public func sum<T: Entity, Value: SummableValue>(
        _ request: FetchDescriptor<T>, of keyPath: KeyPath<T, Value> & Sendable
    ) throws -> Value.Sum {
        try withExtendedLifetime(self) { try beginRead(file: #fileID, line: #line).sum(request, of: keyPath) }
    }

    /// The asynchronous form: runs on a thread of the store's, and ends with `CancellationError` when the task is
    /// cancelled.
    public func sum<T: Entity, Value: SummableValue>(
        _ request: FetchDescriptor<T>, of keyPath: KeyPath<T, Value> & Sendable
    ) async throws -> Value.Sum {
        try await read { tx in try tx.sum(request, of: keyPath) }
    }
}

extension FetchDescriptor {
    /// `store.counts` of this request: costs and throws the same.
    public func counts<Value: FieldValue>(
        by keyPath: KeyPath<T, Value> & Sendable, in store: Store
    ) async throws -> [Value: Int] { try await store.counts(self, by: keyPath) }

    /// `store.sum` of this request: costs and throws the same.
    public func sum<Value: SummableValue>(
        of keyPath: KeyPath<T, Value> & Sendable, in store: Store
    ) async throws -> Value.Sum { try await store.sum(self, of: keyPath) }
}
