// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// A request's result in chunks, each read in a snapshot of its own, so that a long scan pins no old pages of the file
/// while others write.
///
/// Where an index or the IDs give the order, one chunk is in memory at a time, and the next goes on behind the last row's
/// place: an object that moves while the scan runs can be met twice or not at all. Otherwise the IDs are gathered in order
/// first, in one snapshot, and looked up chunk by chunk; an object deleted meanwhile is left out. Beyond a MiB they are kept
/// in a file without a name, in the store's directory, or in the one for temporary files where the store is read only.
public struct Chunks<T: Entity>: AsyncSequence, Sendable {
    public typealias Element = [T]

    let store: Store
    let request: FetchDescriptor<T>
    let size: Int

    public func makeAsyncIterator() -> Iterator { Iterator(store: store, request: request, size: size) }

    /// One iteration. After an error it only throws that error again. In a cancelled task it throws `CancellationError`, so
    /// that a part of the result is never taken for all of it.
    public struct Iterator: AsyncIteratorProtocol {
        private let store: Store
        private let request: FetchDescriptor<T>
        private let size: Int
        private var state = State.start

        private enum State: Sendable {
            case start
            case streaming(Plan, LoweredRequest, Execution.Position)
            case gathered(GatheredKeys, GatheredKeys.Position)
            case over
            case failed(any Error)
        }

        init(store: Store, request: FetchDescriptor<T>, size: Int) {
            self.store = store
            self.request = request
            self.size = size
        }

        public nonisolated(nonsending) mutating func next() async throws -> [T]? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [T]? {
            if case .over = state { return nil }
            let (request, size, before) = (request, size, state)
            do {
                let (objects, after) = try await store.read { tx in try Self.step(tx.context, request, size, before) }
                state = after
                return objects.isEmpty ? nil : objects
            } catch {
                state = .failed(error)
                throw error
            }
        }

        private static func step(
            _ context: SnapshotContext, _ request: FetchDescriptor<T>, _ size: Int, _ state: State
        ) throws -> ([T], State) {
            switch state {
            case .over: return ([], .over)
            case .failed(let error): throw error
            case .start:
                let execution = try context.plan(request)
                if execution.plan.isOrdered {
                    let start = State.streaming(execution.plan, execution.request, Execution.Position())
                    return try step(context, request, size, start)
                }
                return try step(context, request, size, .gathered(try GatheredKeys(execution), GatheredKeys.Position()))
            case .streaming(let plan, let lowered, var position):
                let entity = try context.store.binding(of: T.self).entity
                let execution = Execution(
                    plan: plan, request: lowered, entity: entity, engine: context.store.engine,
                    transaction: context.transaction)
                var objects: [T] = []
                let goesOn = try execution.stream(from: &position, rows: size) { key, record in
                    objects.append(try T.decoded(key: key, record: record, handle: entity.handle))
                }
                return (objects, goesOn ? .streaming(plan, lowered, position) : .over)
            case .gathered(let keys, var position):
                let entity = try context.store.binding(of: T.self).entity
                var objects: [T] = []
                try keys.forEach(from: &position) { key in
                    if let record = try context.record(entity.handle, key) {
                        objects.append(try T.decoded(key: key, record: record, handle: entity.handle))
                    }
                    return objects.count < size
                }
                return (objects, position.passed < keys.count ? .gathered(keys, position) : .over)
            }
        }
    }
}

extension Store {
    /// The request's result, `size` objects at a time; the last chunk may be smaller. Nothing is read before the first chunk
    /// is asked for; each is fetched on a thread of the store's, and throws what a fetch does. See ``Chunks``.
    public func chunks<T: Entity>(_ request: FetchDescriptor<T>, size: Int = 1_000) -> Chunks<T> {
        Chunks(store: self, request: request, size: max(1, size))
    }
}
