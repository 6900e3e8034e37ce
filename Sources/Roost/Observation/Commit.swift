// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One committed transaction, as those see it who follow the store.
public struct Commit: Sendable {
    /// Who committed.
    public enum Origin: Sendable {
        /// One commit of this process.
        case thisProcess
        /// One or several commits of other processes, noticed together.
        case otherProcess
    }

    /// What a commit did to the objects of one entity.
    public struct Changes<T: Entity>: Sendable {
        /// The IDs of the objects that are new.
        public let inserted: [T.ID]
        /// The IDs of the objects that were there and differ now.
        public let updated: [T.ID]
        /// The IDs of the objects that are gone.
        public let deleted: [T.ID]
        /// False when there were too many changes to name, or another process made them: then any object may have changed,
        /// and the lists are empty.
        public let isComplete: Bool
        /// The names of the fields that each updated object changed.
        public let updatedFields: [T.ID: Set<String>]
    }

    /// The commit's number in the store; of several commits, the last one's. Every later commit has a greater one.
    public let sequence: UInt64
    /// Who committed.
    public let origin: Origin
    let record: CommitRecord
    let store: Store

    init(_ record: CommitRecord, store: Store) {
        sequence = record.sequences.upperBound
        origin = record.isForeign ? .otherProcess : .thisProcess
        self.record = record
        self.store = store
    }

    /// What happened to the objects of `type`; nil when nothing did. Throws `unknownEntity`.
    public func changes<T: Entity>(of type: T.Type) throws -> Changes<T>? {
        let state = try store.binding(of: type).state
        guard let all = record.changes else {
            return Changes(inserted: [], updated: [], deleted: [], isComplete: false, updatedFields: [:])
        }
        guard let entity = all.first(where: { $0.entity == state.number }) else { return nil }
        var lists: [EntityChanges.Kind: [T.ID]] = [:]
        var fields: [T.ID: Set<String>] = [:]
        for row in entity.rows {
            let id: T.ID
            do {
                id = try row.key.withUnsafeBytes { try T.ID.load(key: $0) }
            } catch let failure as RecordFailure {
                throw row.key.withUnsafeBytes { state.damaged(failure, key: $0, record: nil, field: "id") }
            }
            lists[row.kind, default: []].append(id)
            if row.kind == .updated {
                let changed = state.layout.fields.indices.filter { row.fields.contains($0) }
                fields[id] = Set(changed.map { state.layout.fields[$0].name })
            }
        }
        return Changes(
            inserted: lists[.inserted] ?? [], updated: lists[.updated] ?? [], deleted: lists[.deleted] ?? [],
            isComplete: entity.isComplete, updatedFields: fields)
    }
}

/// The commits of a store, in order, from the moment the iterator is made. Ends when the store is closed or the task is
/// cancelled.
///
/// At most `Commits.bufferLimit` commits wait for a slow consumer; beyond that the waiting ones are merged into one that
/// says anything may have changed, so no change goes unmentioned.
public struct Commits: AsyncSequence, Sendable {
    public typealias Element = Commit
    public typealias Failure = Never

    /// How many commits wait for a consumer one by one.
    public static let bufferLimit = 1_000

    let store: Store

    public func makeAsyncIterator() -> Iterator { Iterator(CommitBuffer(store: store)) }

    /// One iteration.
    public struct Iterator: AsyncIteratorProtocol {
        private let buffer: CommitBuffer?

        init(_ buffer: CommitBuffer?) { self.buffer = buffer }

        public mutating func next() async -> Commit? { await next(isolation: nil) }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> Commit? {
            guard let buffer else { return nil }
            while await buffer.signal.wait() {
                if let commit = buffer.take() { return commit }
            }
            return nil
        }
    }
}

/// What waits for one consumer of `Commits`. Registered with the bus as long as the iterator lives.
final class CommitBuffer: Sendable {
    private let receiver: Receiver
    var signal: ChangeSignal { receiver.signal }

    /// Nil when the store is closed.
    init?(store: Store) {
        receiver = Receiver(store: store)
        do {
            try store.add(receiver)
        } catch {
            return nil
        }
        receiver.signal.beginLook()
        store.engine.subscribe(receiver)
    }

    deinit { receiver.close() }

    func take() -> Commit? { receiver.take() }

    private final class Receiver: CommitSubscriber, Closable {
        let store: Store
        let signal = ChangeSignal()
        let wantsImages = false
        private let waiting = Mutex<[CommitRecord]>([])

        init(store: Store) { self.store = store }

        func receive(_ commit: CommitRecord) {
            waiting.withLock { waiting in
                waiting.append(commit)
                if waiting.count > Commits.bufferLimit, let first = waiting.first {
                    waiting = [
                        CommitRecord(
                            sequences: first.sequences.lowerBound...commit.sequences.upperBound,
                            isForeign: waiting.contains(where: \.isForeign), changes: nil)
                    ]
                }
                signal.touch(commit.sequences.upperBound)
            }
        }

        func take() -> Commit? {
            waiting.withLock { waiting in
                guard !waiting.isEmpty else { return nil }
                let next = waiting.removeFirst()
                if waiting.isEmpty { signal.endLook(at: next.sequences.upperBound) }
                return Commit(next, store: store)
            }
        }

        func close() {
            store.engine.bus.unsubscribe(self)
            store.remove(self)
            signal.finish()
        }
    }
}

extension Store {
    /// The commits of this store, in order, of this process and others. See `Commits`.
    public func commits() -> Commits { Commits(store: self) }
}
