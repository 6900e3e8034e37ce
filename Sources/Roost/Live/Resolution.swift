// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB
import Synchronization

/// A list of IDs, with what commits and rows are matched by. Shared by all who resolve it.
final class IDList<T: Entity>: Sendable {
    let ids: [T.ID]
    /// Nil for an ID that is too long for a key: it has no object, and no commit can give it one.
    let keys: [[UInt8]?]
    /// Where each key stands first.
    private let places: [[UInt8]: Int]
    /// Where those stand as well that are there several times.
    private let furtherPlaces: [[UInt8]: [Int]]

    init(_ ids: [T.ID]) {
        self.ids = ids
        keys = ids.map { id in try? id.withKey { Array($0) } }
        var places: [[UInt8]: Int] = [:]
        var further: [[UInt8]: [Int]] = [:]
        places.reserveCapacity(ids.count)
        for (place, key) in keys.enumerated() {
            guard let key else { continue }
            if places[key] == nil { places[key] = place } else { further[key, default: []].append(place) }
        }
        self.places = places
        furtherPlaces = further
    }

    func contains(_ key: [UInt8]) -> Bool { places[key] != nil }
    func firstPlace(of key: [UInt8]) -> Int? { places[key] }

    func forEachPlace(of key: [UInt8], _ body: (Int) -> Void) {
        if let place = places[key] { body(place) }
        for place in furtherPlaces[key] ?? [] { body(place) }
    }

    /// IDs that are registered each for itself; a longer list is asked about every change.
    static var mostAnchors: Int { 256 }

    func interest(in entity: StoredEntity) -> ChangeInterest {
        ChangeInterest(entity, [places.count > Self.mostAnchors ? .all : .ids(Array(places.keys))])
    }
}

/// One iteration over a resolver's values: the objects that were read last, and which of them commits have changed since. Only
/// those are read again, and of another list only those that the one before did not have.
///
/// Mutable state (mutex): see `State`. The rows are a value, which whoever reads works on outside the lock.
final class Resolution<T: Entity>: CommitSubscriber, Closable {
    /// What was read.
    private struct Loaded: Sendable {
        let list: IDList<T>
        /// By their places in the list.
        var rows = RowChunks<T>()
        /// Objects that cannot be decoded.
        var failures: [[UInt8]: StoreError] = [:]
        /// The commit at which it is this.
        var sequence: UInt64 = 0
    }

    private struct State {
        var list: IDList<T>?
        var loaded: Loaded?
        /// Who works on a copy: another one reads everything.
        var readings = 0
        /// What commits have changed since the last reading began.
        var changed: Set<[UInt8]> = []
        var changedBytes = 0
        /// Whether any may have changed.
        var isAnyChanged = false

        mutating func note(_ key: [UInt8]) {
            if isAnyChanged || !changed.insert(key).inserted { return }
            changedBytes += key.count + 64
            if changedBytes > Resolution.changedByteLimit { forgetChanged() }
        }

        mutating func forgetChanged() { (changed, changedBytes, isAnyChanged) = ([], 0, true) }
    }

    /// A value; nil where it is the same as before.
    struct Answer: Sendable {
        let objects: LiveObjects<T>
        let failures: [(id: T.ID, error: StoreError)]
        fileprivate let list: IDList<T>

        /// The IDs without an object. Costs a look at each.
        var missing: Set<T.ID> {
            var missing: Set<T.ID> = []
            for (place, id) in list.ids.enumerated() where objects.rows.row(Resolution.rowKey(place)) == nil {
                missing.insert(id)
            }
            return missing
        }
    }

    /// Of the keys of changed objects; beyond it everything is read again.
    static var changedByteLimit: Int { 1 << 20 }

    let store: Store
    let signal = ChangeSignal()
    let wantsImages = false
    private let entity: StoredEntity
    private let chunkSize: Int
    private let state: Mutex<State>

    /// Throws `storeClosed` and `unknownEntity`.
    init(_ store: Store, _ list: IDList<T>?, chunkSize: Int) throws {
        self.store = store
        self.chunkSize = chunkSize
        entity = try store.binding(of: T.self).entity
        state = Mutex(State(list: list))
        // In this order: what closes the store meanwhile finds what it has to end.
        store.engine.bus.subscribe(self)
        do {
            try store.add(self)
        } catch {
            store.engine.bus.unsubscribe(self)
            throw error
        }
    }

    func close() {
        store.engine.bus.unsubscribe(self)
        store.remove(self)
        signal.finish()
    }

    var interest: ChangeInterest {
        state.withLock { $0.list }?.interest(in: entity) ?? ChangeInterest(entity, [])
    }

    /// Shows another list from now on.
    func replace(by list: IDList<T>) {
        let before = state.withLock { state in
            defer { state.list = list }
            return state.list
        }
        withExtendedLifetime(before) {}
        store.engine.bus.interestChanged(of: self)
        signal.invalidate()
    }

    func receive(_ commit: CommitRecord) {
        let isConcerned = state.withLock { state -> Bool in
            guard let list = state.list else { return false }
            guard let changes = commit.changes else {
                state.forgetChanged()
                return true
            }
            guard let changed = changes.first(where: { $0.entity == entity.number }) else { return false }
            if !changed.isComplete {
                state.forgetChanged()
                return true
            }
            var isConcerned = false
            for row in commit.rows(of: changed) where list.contains(changed.rows[row].key) {
                isConcerned = true
                state.note(changed.rows[row].key)
            }
            return isConcerned
        }
        if isConcerned { signal.invalidate(by: commit.sequences.upperBound) }
    }

    // MARK: Reading

    /// The present value; nil before the first list, and when nothing is different from the value before.
    func read() async throws -> Answer? {
        let asked = signal.beginFetch()
        // What is delivered until here is in what has changed; what is delivered later is told again.
        let delivered = store.engine.bus.delivered
        guard let task = begin() else {
            signal.endFetch(at: asked)
            return nil
        }
        do {
            let (answer, loaded, sequence) = try await store.read(lane: .observers) { [self] tx in
                let sequence = try tx.sequence()
                let (answer, loaded) = try read(task, sequence, tx.context)
                return (answer, loaded, task.isPatch ? min(delivered, sequence) : sequence)
            }
            end(loaded)
            signal.endFetch(at: sequence)
            return answer
        } catch {
            end(nil)
            if error is CancellationError { signal.abandonFetch() } else { signal.endFetch(at: asked) }
            throw error
        }
    }

    /// What one reading begins with.
    private struct Reading: Sendable {
        let list: IDList<T>
        let before: Loaded?
        let changed: Set<[UInt8]>

        /// Whether it is the list that was read.
        var isPatch: Bool { before?.list === list }
    }

    private func begin() -> Reading? {
        state.withLock { state in
            guard let list = state.list else { return nil }
            let isAll = state.readings > 0 || state.isAnyChanged
            defer {
                state.readings += 1
                (state.changed, state.changedBytes, state.isAnyChanged) = ([], 0, false)
            }
            return Reading(list: list, before: isAll ? nil : state.loaded, changed: state.changed)
        }
    }

    /// Keeps what was read; nil where nothing was, and everything is to be read again.
    private func end(_ loaded: Loaded?) {
        let before = state.withLock { state -> Loaded? in
            state.readings -= 1
            // Of two readings at once the later one, which may have been told less.
            guard let loaded, loaded.sequence >= state.loaded?.sequence ?? 0 else {
                state.forgetChanged()
                return nil
            }
            defer { state.loaded = loaded }
            return state.loaded
        }
        withExtendedLifetime(before) {}
    }

    private func read(
        _ reading: Reading, _ sequence: UInt64, _ context: SnapshotContext
    ) throws -> (Answer?, Loaded) {
        var loaded: Loaded
        var isChanged = true
        if reading.isPatch, let before = reading.before {
            loaded = before
            isChanged = try patch(&loaded, reading.changed, context)
        } else {
            loaded = Loaded(list: reading.list)
            try load(&loaded, reading, context)
        }
        loaded.sequence = sequence
        loaded.rows.countPlaces()
        guard isChanged else { return (nil, loaded) }
        let failures = loaded.failures.sorted { $0.key.lexicographicallyPrecedes($1.key) }.compactMap { key, error in
            loaded.list.firstPlace(of: key).map { (id: loaded.list.ids[$0], error: error) }
        }
        let objects = LiveObjects(loaded.rows, 0..<loaded.rows.count)
        return (Answer(objects: objects, failures: failures, list: loaded.list), loaded)
    }

    fileprivate static func rowKey(_ place: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(place).bigEndian, Array.init) }

    /// Reads the changed objects. Returns whether one of them is another one than before.
    private func patch(_ loaded: inout Loaded, _ changed: Set<[UInt8]>, _ context: SnapshotContext) throws -> Bool {
        var isChanged = false
        for key in changed {
            if Cancellation.isRequested { throw CancellationError() }
            let record = try key.withUnsafeBytes { try context.record(entity.handle, $0) }
            loaded.failures[key] = nil
            loaded.list.forEachPlace(of: key) { place in
                let rowKey = Self.rowKey(place)
                let before = loaded.rows.row(rowKey)
                let row = record.flatMap { self.row(place, key, $0, like: before, &loaded.failures) }
                if row == nil && before == nil || row?.version == before?.version { return }
                isChanged = true
                if let row { loaded.rows.put(row) } else { loaded.rows.remove(rowKey) }
            }
            if loaded.failures[key] != nil { isChanged = true }
        }
        return isChanged
    }

    /// Reads the list, but for the objects that were there and have not changed.
    private func load(_ loaded: inout Loaded, _ reading: Reading, _ context: SnapshotContext) throws {
        let run = KeyRun()
        /// Those that stand in the result one after the other: rows that are known, and places of keys in the run.
        var next: [(place: Int, row: RowChunks<T>.Row?, number: Int?)] = []
        func flush() throws {
            if run.count > 0 { try run.find(context, entity.handle) }
            for (place, known, number) in next {
                if let known {
                    loaded.rows.append(known)
                } else if let number, let record = run.record(number), let key = loaded.list.keys[place],
                    let row = row(place, key, record, like: nil, &loaded.failures)
                {
                    loaded.rows.append(row)
                }
            }
            run.removeAll()
            next.removeAll(keepingCapacity: true)
        }
        for (place, key) in loaded.list.keys.enumerated() {
            guard let key else { continue }
            if let before = reading.before, !reading.changed.contains(key), before.failures[key] == nil,
                let old = before.list.firstPlace(of: key)
            {
                guard let row = before.rows.row(Self.rowKey(old)) else { continue }
                next.append(
                    (
                        place,
                        RowChunks<T>.Row(key: Self.rowKey(place), id: key, version: row.version, object: row.object),
                        nil
                    ))
            } else {
                next.append((place, nil, run.count))
                key.withUnsafeBytes { run.append($0) }
            }
            if run.isFull || run.count >= chunkSize || next.count >= 4_096 {
                if Cancellation.isRequested { throw CancellationError() }
                try flush()
            }
        }
        try flush()
    }

    /// Nil where it cannot be decoded, which is noted.
    private func row(
        _ place: Int, _ key: [UInt8], _ record: UnsafeRawBufferPointer, like before: RowChunks<T>.Row?,
        _ failures: inout [[UInt8]: StoreError]
    ) -> RowChunks<T>.Row? {
        let version = MaintainedRows<T>.version(of: record)
        if let before, before.version == version { return before }
        do {
            let object = try key.withUnsafeBytes { key in
                try T.decoded(key: key, record: record, handle: entity.handle)
            }
            return RowChunks<T>.Row(key: Self.rowKey(place), id: key, version: version, object: object)
        } catch {
            failures[key] = error as? StoreError ?? StoreError(.damaged, "\(error)")
            return nil
        }
    }
}
