// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// A repair on its way, batch by batch: what it has seen, where it goes on, and what it has found but not mended yet.
///
/// First the records are walked, then each index. Of the entries that the records should have, and of those that there are,
/// sums of hashes are kept, in buckets by the object's ID: what differs is looked at in two more walks, the records
/// for entries that are missing, the indexes for entries that are too many. So nothing is looked up in a store without
/// damage, and nothing is remembered of an object. A commit of somebody else's in between can only make a bucket differ.
struct Repair<T: Entity>: Sendable {
    struct Limits: Sendable {
        /// Records or entries of a batch.
        var rows = 1_000
        /// Bytes of a batch's records, and entries that it adds.
        var bytes = 4 << 20
        var entries = 10_000
    }

    private enum Stage: Sendable {
        case records
        case entries(index: Int)
        case missingEntries
        case excessEntries(index: Int)
        case over
    }

    private(set) var report = RepairReport<T>()
    private let entity: StoredEntity
    private let removing: Store.Damage
    private let limits: Limits
    private var stage = Stage.records
    /// The key behind which the stage's walk goes on.
    private var after: [UInt8]?
    /// Whether the stage has nothing more to look at.
    private var isThrough = false
    /// Keys of records, or of an index's entries, that the stage is to mend.
    private var findings: [[UInt8]] = []
    /// Of the index that is walked, how many cut keys it has, and whether that is not what the store says.
    private var cutKeys: UInt64 = 0
    private var isMiscounted = false
    /// By index and bucket, what the records should have less what is there.
    private var differences: [[UInt64]]

    private static var buckets: Int { 4_096 }

    init(_ store: Store, removing: Store.Damage, limits: Limits = Limits()) throws {
        try store.verifyOpen()
        guard !store.engine.environment.options.isReadOnly else { throw StoreError.readOnly }
        entity = try store.binding(of: T.self).entity
        guard entity.isWritable else { throw entity.notWritable() }
        self.removing = removing
        self.limits = limits
        differences = Array(repeating: Array(repeating: 0, count: Self.buckets), count: entity.indexes.count)
    }

    var isOver: Bool { if case .over = stage { !hasFindings } else { false } }
    var hasFindings: Bool { !findings.isEmpty || isMiscounted }
    var findingCount: Int { findings.count }

    // MARK: Looking

    /// Looks at a batch, after what was found before has been mended.
    mutating func examine(_ context: SnapshotContext) throws {
        let transaction = context.transaction
        do {
            switch stage {
            case .records: try examineRecords(transaction)
            case .entries(let index): try examineEntries(entity.indexes[index], index, context)
            case .missingEntries: try findMissingEntries(transaction)
            case .excessEntries(let index): try findExcessEntries(entity.indexes[index], index, transaction)
            case .over: return
            }
        } catch {
            throw StoreError.wrapping(error, engine: context.store.engine)
        }
        if isThrough, !hasFindings { advance() }
    }

    /// The next stage that has something to look at.
    private mutating func advance() {
        (after, isThrough, cutKeys) = (nil, false, 0)
        func excess(from index: Int) -> Stage {
            let next = differences.indices.first { $0 >= index && differences[$0].contains { $0 != 0 } }
            return next.map { .excessEntries(index: $0) } ?? .over
        }
        switch stage {
        case .records where entity.indexes.isEmpty: stage = .over
        case .records: stage = .entries(index: 0)
        case .entries(let index) where index + 1 < entity.indexes.count: stage = .entries(index: index + 1)
        case .entries: stage = differences.contains { $0.contains { $0 != 0 } } ? .missingEntries : .over
        case .missingEntries: stage = excess(from: 0)
        case .excessEntries(let index): stage = excess(from: index + 1)
        case .over: break
        }
    }

    /// Walks on until the batch is full or `body` returns false.
    private mutating func walk(
        _ database: Database, _ transaction: Transaction,
        _ body: (inout Self, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let walker = RangeWalker(database: database, ranges: [.all], after: after)
        var (rows, bytes) = (0, 0)
        var last: [UInt8]?
        try walker.forEach(in: transaction) { key, value in
            rows += 1
            bytes += value.count
            let goesOn = try body(&self, key, value)
            if goesOn, rows < limits.rows, bytes < limits.bytes { return true }
            last = Array(key)
            return false
        }
        after = last
        isThrough = last == nil
    }

    private mutating func examineRecords(_ transaction: Transaction) throws {
        var keys = EntryKeys()
        let none = EntryKeys()
        try walk(entity.records, transaction) { repair, key, record in
            let damage = repair.damage(key, record)
            if !damage.isEmpty {
                if repair.removing.contains(damage) {
                    repair.findings.append(Array(key))
                    return true
                }
                if damage == .altered { repair.report.altered.add(key) } else { repair.report.unreadable.add(key) }
                if damage == .lost { return true }
            }
            let bucket = Self.bucket(key)
            for (number, index) in repair.entity.indexes.enumerated()
            where repair.makeKeys(index, key, record, &keys) {
                keys.forEach(notIn: none) { entry, _ in
                    repair.differences[number][bucket] &+= KeyBytes.hash(entry)
                }
            }
            return true
        }
    }

    private mutating func examineEntries(_ index: StoredIndex, _ number: Int, _ context: SnapshotContext) throws {
        let width = entity.layout.idKeyWidth
        try walk(index.database, context.transaction) { repair, entry, _ in
            guard let place = index.place(inEntry: entry, width: width) else {
                repair.findings.append(Array(entry))
                return true
            }
            let bucket = Self.bucket(UnsafeRawBufferPointer(rebasing: entry[place.idStart...]))
            repair.differences[number][bucket] &-= KeyBytes.hash(entry)
            if !place.isExact { repair.cutKeys += 1 }
            return true
        }
        if isThrough, index.hasVaryingComponent {
            let main = context.store.engine.main
            isMiscounted =
                try main.count(.inexactKeys(of: index.databaseNumber), in: context.transaction) != cutKeys
        }
    }

    private mutating func findMissingEntries(_ transaction: Transaction) throws {
        var keys = EntryKeys()
        let none = EntryKeys()
        var missing = 0
        try walk(entity.records, transaction) { repair, key, record in
            let bucket = Self.bucket(key)
            guard repair.differences.contains(where: { $0[bucket] != 0 }), repair.damage(key, record) != .lost else {
                return true
            }
            var isFound = false
            for (number, index) in repair.entity.indexes.enumerated()
            where repair.differences[number][bucket] != 0 && repair.makeKeys(index, key, record, &keys) {
                try keys.forEach(notIn: none) { entry, _ in
                    guard try transaction.get(index.database, entry) == nil else { return }
                    missing += 1
                    isFound = true
                }
            }
            if isFound { repair.findings.append(Array(key)) }
            return missing < repair.limits.entries
        }
    }

    private mutating func findExcessEntries(
        _ index: StoredIndex, _ number: Int, _ transaction: Transaction
    ) throws {
        let width = entity.layout.idKeyWidth
        try walk(index.database, transaction) { repair, entry, _ in
            guard let place = index.place(inEntry: entry, width: width) else { return true }
            let id = UnsafeRawBufferPointer(rebasing: entry[place.idStart...])
            guard repair.differences[number][Self.bucket(id)] != 0 else { return true }
            if try repair.isExcess(entry, id, index, transaction) { repair.findings.append(Array(entry)) }
            return true
        }
    }

    // MARK: Mending

    /// Mends what was found, as far as it is still so.
    mutating func mend(_ session: WriteSession) throws {
        let before = report
        do {
            switch stage {
            case .records: try removeObjects(session)
            case .entries(let index), .excessEntries(let index):
                try removeEntries(entity.indexes[index], session)
                if isMiscounted { try session.countCutKeys(entity.indexes[index], of: entity) }
            case .missingEntries: try addEntries(session)
            case .over: break
            }
        } catch {
            report = before
            throw StoreError.wrapping(error, engine: session.engine)
        }
        findings = []
        isMiscounted = false
        if isThrough { advance() }
    }

    private mutating func removeObjects(_ session: WriteSession) throws {
        for key in findings {
            try key.withUnsafeBytes { key in
                guard let record = try session.transaction.get(entity.records, key) else { return }
                let damage = damage(key, record)
                guard !damage.isEmpty, removing.contains(damage) else { return }
                let width = entity.layout.idKeyWidth
                if key.count <= maximumIDKeyLength, width == 0 || key.count == width {
                    guard try session.delete(entity, key: key) else { return }
                } else {
                    // No object has this key, so no index and no history knows it.
                    guard try session.transaction.delete(entity.records, key: key) else { return }
                    session.recordAny(entity)
                }
                report.removed.add(key)
            }
        }
    }

    private mutating func addEntries(_ session: WriteSession) throws {
        let transaction = session.transaction
        var keys = EntryKeys()
        let none = EntryKeys()
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        for index in entity.indexes {
            var hasCutKeys = false
            let added = report.entriesAdded
            for key in findings {
                try key.withUnsafeBytes { key in
                    // The keys are copies: the first entry that is put may move the record.
                    guard let record = try transaction.get(entity.records, key), damage(key, record) != .lost,
                        makeKeys(index, key, record, &keys)
                    else { return }
                    try keys.forEach(notIn: none) { entry, isExact in
                        guard try transaction.put(index.database, key: entry, value: nothing, overwrite: false)
                        else { return }
                        report.entriesAdded += 1
                        if !isExact { hasCutKeys = true }
                    }
                }
            }
            if report.entriesAdded > added { try session.indexWasMended(index, of: entity, hasCutKeys: hasCutKeys) }
        }
    }

    private mutating func removeEntries(_ index: StoredIndex, _ session: WriteSession) throws {
        let transaction = session.transaction
        var hasCutKeys = false
        let removed = report.entriesRemoved
        for entry in findings {
            try entry.withUnsafeBytes { entry in
                if let place = index.place(inEntry: entry, width: entity.layout.idKeyWidth) {
                    let id = UnsafeRawBufferPointer(rebasing: entry[place.idStart...])
                    guard try isExcess(entry, id, index, transaction) else { return }
                    if !place.isExact { hasCutKeys = true }
                } else {
                    hasCutKeys = true
                }
                if try transaction.delete(index.database, key: entry) { report.entriesRemoved += 1 }
            }
        }
        if report.entriesRemoved > removed { try session.indexWasMended(index, of: entity, hasCutKeys: hasCutKeys) }
    }

    // MARK: What is damage

    /// None, or one kind.
    private func damage(_ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) -> Store.Damage {
        let isAsWritten = RecordView.hasValidChecksum(key: key, record: record)
        do {
            var decoder = try RecordDecoder(
                key: key, record: record, shape: T.recordShape, header: entity.layout.header)
            _ = try T(from: &decoder)
            return isAsWritten ? [] : .altered
        } catch {
            return isAsWritten ? .unknown : .lost
        }
    }

    /// Makes `keys` the entries that the object should have. False where its record holds what no key can be made of.
    private func makeKeys(
        _ index: StoredIndex, _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, _ keys: inout EntryKeys
    ) -> Bool {
        keys.removeAll()
        do {
            try index.appendKeys(of: RecordView(key: key, record: record, layout: entity.layout), to: &keys)
        } catch {
            return false
        }
        keys.sort()
        return true
    }

    /// Whether an entry is none that its object should have. Where nobody knows which those are it may stay.
    private func isExcess(
        _ entry: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer, _ index: StoredIndex, _ transaction: Transaction
    ) throws -> Bool {
        guard let record = try transaction.get(entity.records, id) else { return true }
        var keys = EntryKeys()
        guard damage(id, record) != .lost, makeKeys(index, id, record, &keys) else { return false }
        return !keys.contains(entry)
    }

    private static func bucket(_ id: UnsafeRawBufferPointer) -> Int {
        let hash = KeyBytes.hash(id)
        return Int(truncatingIfNeeded: (hash ^ hash >> 32) & UInt64(buckets - 1))
    }
}

extension WriteSession {
    /// After entries of an index were put or removed past the upkeep.
    fileprivate func indexWasMended(_ index: StoredIndex, of entity: StoredEntity, hasCutKeys: Bool) throws {
        recordAny(entity)
        if hasCutKeys, index.hasVaryingComponent { try countCutKeys(index, of: entity) }
    }

    /// What made the damage need not have counted.
    fileprivate func countCutKeys(_ index: StoredIndex, of entity: StoredEntity) throws {
        var cut: UInt64 = 0
        try RangeWalker.forEachEntry(of: index.database, in: transaction) { entry, _ in
            if index.place(inEntry: entry, width: entity.layout.idKeyWidth)?.isExact == false { cut += 1 }
        }
        try engine.main.setCount(.inexactKeys(of: index.databaseNumber), cut, in: transaction)
    }
}
