// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One committed transaction, or several told together, as those see it who follow the store.
///
/// It is a value: it holds the changed IDs, no objects, and keeps its store open while it lives.
public struct Commit: Sendable {
    /// Who committed.
    public enum Origin: Sendable {
        /// One or several commits of this process.
        case thisProcess
        /// Another process, one or several commits of which were noticed together; or several commits told together, some of
        /// them another process's.
        case otherProcess
    }

    /// What a commit did to the objects of one entity. Of several commits told together it is what they did altogether, from
    /// before the first to after the last: an object that was inserted and deleted again is in none of the lists, one that
    /// was deleted and inserted again is updated, and one that was changed and changed back is updated, too.
    public struct Changes<T: Entity>: Sendable {
        /// The IDs of the objects that are new, in the order in which they were first changed, like the other lists.
        public let inserted: [T.ID]
        /// The IDs of the objects that were there and differ now.
        public let updated: [T.ID]
        /// The IDs of the objects that are gone.
        public let deleted: [T.ID]
        /// False when there were too many changes to name, or another process made them and the history does not hold them any
        /// more: then any object may have changed, and the lists are empty.
        public let isComplete: Bool
        /// The names of the fields that each updated object changed; all of them where it is not known which.
        public let updatedFields: [T.ID: Set<String>]
    }

    /// The commit's number in the store; of several, the last one's. Every later commit has a greater one.
    public let sequence: UInt64
    /// The first one's number, of several; else the same as `sequence`. Who has read a snapshot with a sequence from this one
    /// up to the one before `sequence` has seen a state in the middle, of which the changes say nothing: such a reader reads
    /// again.
    public let firstSequence: UInt64
    /// Whose commit it is.
    public let origin: Origin
    /// When it was committed, by the clock of the machine that did; of several, the last one. Nil where another process made it and
    /// the history does not hold it any more.
    public var time: Date? { record.stamp?.time }
    /// The place in the history after this commit: see `Store.history(since:limit:)`. Nil where `time` is.
    public var token: HistoryToken? {
        record.stamp.map { HistoryToken(storeID: store.engine.header.storeID, sequence: sequence, nonce: $0.nonce) }
    }
    private let record: CommitRecord
    private let store: Store

    init(_ record: CommitRecord, store: Store) {
        sequence = record.sequences.upperBound
        firstSequence = record.sequences.lowerBound
        origin = record.isForeign ? .otherProcess : .thisProcess
        self.record = record
        self.store = store
    }

    /// What happened to the objects of `type`; nil when nothing did.
    ///
    /// Costs time and memory in proportion to the changes of that entity, on the caller's thread, and reads nothing from the
    /// store. Throws `unknownEntity` when the store was not opened with the entity, and `damaged` when an ID in the file
    /// cannot be read.
    public func changes<T: Entity>(of type: T.Type) throws -> Changes<T>? {
        let stored = try store.binding(of: type).entity
        guard let all = record.changes else {
            return Changes(inserted: [], updated: [], deleted: [], isComplete: false, updatedFields: [:])
        }
        guard let entity = all.first(where: { $0.entity == stored.number }) else { return nil }
        var inserted: [T.ID] = []
        var updated: [T.ID] = []
        var deleted: [T.ID] = []
        var fields: [T.ID: Set<String>] = [:]
        for row in entity.rows where !row.isTransient {
            let id = try row.key.withUnsafeBytes { key in try stored.readID(T.ID.self, key: key) }
            switch row.kind {
            case .inserted: inserted.append(id)
            case .deleted: deleted.append(id)
            case .updated:
                updated.append(id)
                let changed = stored.layout.fields.indices.filter { row.fields.contains($0) }
                fields[id] = Set(changed.map { stored.layout.fields[$0].name })
            }
        }
        if entity.isComplete && inserted.isEmpty && updated.isEmpty && deleted.isEmpty { return nil }
        return Changes(
            inserted: inserted, updated: updated, deleted: deleted, isComplete: entity.isComplete, updatedFields: fields
        )
    }
}

/// The commits of a store, in order, from the moment the iterator is made. Ends when the store is closed, after the commits
/// before that. A cancelled task gets no more of them, at once; a task that shares the iterator does. It never fails.
///
/// Making an iterator reads the last commit's number. From then on each commit costs the iteration memory in proportion to its
/// changes, until it is taken; the writer does not wait for it. At most `Commits.bufferLimit` commits wait for a slow consumer,
/// in at most 16 MiB; beyond that the oldest are merged, so that no change goes unmentioned: see `Commit.Changes`. Where even
/// those name more than 100,000 objects of an entity or take more than that memory, it is said that any of them may have
/// changed.
///
/// Commits are delivered where the consumer iterates. Another process's are noticed within a few milliseconds where
/// the system tells of writes to a file, else within about 50.
public struct Commits: AsyncSequence, Sendable {
    public typealias Element = Commit
    public typealias Failure = Never

    /// How many commits wait for a consumer one by one.
    public static let bufferLimit = PendingCommits.commitLimit

    let store: Store

    /// Begins to follow the store. Of a closed store the iteration ends at once.
    public func makeAsyncIterator() -> Iterator { Iterator(CommitBuffer(store: store)) }

    /// One iteration. It follows the store until it is released or has ended. Copies of it share what
    /// waits: each commit goes to one of them.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private let buffer: CommitBuffer?

        init(_ buffer: CommitBuffer?) { self.buffer = buffer }

        /// The next commit, once there is one; nil at the end.
        public nonisolated(nonsending) mutating func next() async -> Commit? {
            await next(isolation: #isolation)
        }

        /// The next commit, once there is one; nil at the end. It returns on `actor`.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Commit? { await buffer?.next() }
    }
}

extension Store {
    /// The commits of this store, in order, of this process and others. See `Commits`.
    public func commits() -> Commits { Commits(store: self) }
}

extension Store {
    /// Looks for other processes' commits at once, and returns when observers, resolvers and `commits()` have been told of those that
    /// there are. That is never needed where the system tells of writes to a file, or where the time until the next look, a second at
    /// most, does not matter. Reads nothing while nobody follows the store. Throws `storeClosed`.
    public func refresh() async throws {
        try verifyOpen()
        await engine.bus.lookNow()
    }
}
