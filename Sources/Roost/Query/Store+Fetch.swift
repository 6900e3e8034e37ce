// SPDX-License-Identifier: Apache-2.0

extension Store {
    /// The objects that the request describes, in its order; on this thread, in a snapshot of its own.
    ///
    /// Costs and throws what ``SnapshotReading/fetch(_:)`` does; `storeClosed` after `close`.
    @inlinable
    public func fetch<T: Entity>(_ request: FetchDescriptor<T>) throws -> [T] {
        try withExtendedLifetime(self) { try beginRead(file: #fileID, line: #line).fetch(request) }
    }

    /// The asynchronous form: runs on a thread of the store's, and ends with `CancellationError` when the task is cancelled.
    public func fetch<T: Entity>(_ request: FetchDescriptor<T>) async throws -> [T] {
        try await read { tx in try tx.fetch(request) }
    }

    /// The first object of the request's order, or nil; on this thread. Costs and throws what a fetch with a limit of 1 does.
    @inlinable
    public func first<T: Entity>(_ request: FetchDescriptor<T>) throws -> T? {
        try withExtendedLifetime(self) { try beginRead(file: #fileID, line: #line).first(request) }
    }

    /// The asynchronous form: runs on a thread of the store's, and ends with `CancellationError` when the task is cancelled.
    public func first<T: Entity>(_ request: FetchDescriptor<T>) async throws -> T? {
        try await read { tx in try tx.first(request) }
    }

    /// How many objects a fetch would give; on this thread. Costs and throws what ``SnapshotReading/count(_:)`` does.
    public func count<T: Entity>(_ request: FetchDescriptor<T>) throws -> Int {
        try withExtendedLifetime(self) { try beginRead(file: #fileID, line: #line).count(request) }
    }

    /// The asynchronous form: runs on a thread of the store's, and ends with `CancellationError` when the task is cancelled.
    public func count<T: Entity>(_ request: FetchDescriptor<T>) async throws -> Int {
        try await read { tx in try tx.count(request) }
    }

    /// The IDs that a fetch would give, in its order; on this thread. Costs and throws what ``SnapshotReading/ids(_:)`` does.
    public func ids<T: Entity>(_ request: FetchDescriptor<T>) throws -> [T.ID] {
        try withExtendedLifetime(self) { try beginRead(file: #fileID, line: #line).ids(request) }
    }

    /// The asynchronous form: runs on a thread of the store's, and ends with `CancellationError` when the task is cancelled.
    public func ids<T: Entity>(_ request: FetchDescriptor<T>) async throws -> [T.ID] {
        try await read { tx in try tx.ids(request) }
    }

    /// Runs the fetch and tells how; on this thread. Costs and throws what the fetch does.
    public func explain<T: Entity>(_ request: FetchDescriptor<T>) throws -> Explanation {
        try withExtendedLifetime(self) { try beginRead(file: #fileID, line: #line).explain(request) }
    }

    /// The asynchronous form: runs on a thread of the store's, and ends with `CancellationError` when the task is cancelled.
    public func explain<T: Entity>(_ request: FetchDescriptor<T>) async throws -> Explanation {
        try await read { tx in try tx.explain(request) }
    }
}

/// The same, with the request as the subject: on a thread of the store's, in a snapshot of its own.
extension FetchDescriptor {
    /// `store.fetch` of this request: costs and throws the same.
    public func fetch(in store: Store) async throws -> [T] { try await store.fetch(self) }

    /// `store.first` of this request: costs and throws the same.
    public func first(in store: Store) async throws -> T? { try await store.first(self) }

    /// `store.count` of this request: costs and throws the same.
    public func count(in store: Store) async throws -> Int { try await store.count(self) }

    /// `store.ids` of this request: costs and throws the same.
    public func ids(in store: Store) async throws -> [T.ID] { try await store.ids(self) }

    /// `store.explain` of this request: costs and throws the same.
    public func explain(in store: Store) async throws -> Explanation { try await store.explain(self) }
}
