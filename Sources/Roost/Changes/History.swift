// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

/// The change log in the file: one entry a commit, by its sequence, for a bounded span (SPEC.md, "History").
struct History {
    static let maximumEntries = 10_000
    static let maximumBytes = 64 << 20
    /// IDs kept exactly for each entity of one commit.
    static let maximumRows = 10_000

    let database: Database
    /// At most `maximumBytes`; less where the store is to be small, so that it does not fill up with its history.
    let byteLimit: Int

    /// `maximumSize`: the store's limit.
    init(database: Database, maximumSize: Int?) {
        self.database = database
        byteLimit = min(Self.maximumBytes, (maximumSize ?? .max) / 16)
    }

    /// Appends the entry and drops the oldest ones beyond the bounds. `size` is the total of all entries' bytes, which
    /// the caller keeps in the file.
    func append(
        sequence: UInt64, stamp: CommitStamp, origin: UInt64, changes: [EntityChanges], size: inout UInt64,
        in transaction: Transaction
    ) throws {
        let entry = Self.encode(nonce: stamp.nonce, origin: origin, changes: changes, at: stamp.time)
        try Self.withKey(sequence) { key in
            _ = try entry.withUnsafeBytes { try transaction.put(database, key: key, value: $0) }
        }
        size += UInt64(entry.count)
        var entries = try transaction.statistics(of: database).entries
        while entries > Self.maximumEntries || (size > UInt64(byteLimit) && entries > 1) {
            // The key must outlive the cursor's page, which the delete changes.
            guard let oldest = try oldest(in: transaction) else { break }
            _ = try oldest.key.withUnsafeBytes { try transaction.delete(database, key: $0) }
            size -= min(size, UInt64(oldest.byteCount))
            entries -= 1
        }
        // What an absurd size had left would drop every entry but the newest for ever.
        if entries == 1 { size = UInt64(entry.count) }
    }

    private func oldest(in transaction: Transaction) throws -> (key: [UInt8], byteCount: Int)? {
        var cursor = try transaction.cursor(database)
        guard try cursor.first() else { return nil }
        return (Array(cursor.key), cursor.value.count)
    }

    /// The first and last sequence that the history holds.
    func bounds(in transaction: Transaction) throws -> ClosedRange<UInt64>? {
        var cursor = try transaction.cursor(database)
        guard try cursor.first() else { return nil }
        let first = try Self.sequence(cursor.key)
        guard try cursor.last() else { return nil }
        let last = try Self.sequence(cursor.key)
        guard first <= last else { throw Self.damagedKey }
        return first...last
    }

    static func withKey<Result>(
        _ sequence: UInt64, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try withUnsafeBytes(of: sequence.bigEndian, body)
    }

    private static func sequence(_ key: UnsafeRawBufferPointer) throws(StoreError) -> UInt64 {
        guard key.count == 8 else { throw damagedKey }
        return UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
    }

    private static var damagedKey: StoreError {
        StoreError(.damaged, "The history has an entry whose key is not a commit's number.")
    }

    // MARK: Entries

    static func encode(nonce: UInt64, origin: UInt64, changes: [EntityChanges], at time: Date) -> [UInt8] {
        var bytes: [UInt8] = [1, 0]
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        append(UInt16(clamping: changes.count))
        append(nonce)
        append(origin)
        append(time.timeIntervalSinceReferenceDate.bitPattern)
        for entity in changes {
            let exact = entity.isComplete && entity.rows.count <= maximumRows
            append(UInt32(entity.entity))
            append(UInt32(exact ? entity.rows.count : Int(UInt32.max)))
            guard exact else { continue }
            for row in entity.rows {
                bytes.append(row.kind.rawValue)
                bytes.append(UInt8(row.key.count))
                bytes.append(contentsOf: row.key)
                guard row.kind == .updated else { continue }
                append(UInt16(row.fields.byteCount))
                for index in 0..<row.fields.byteCount { bytes.append(row.fields.byte(index)) }
            }
        }
        return bytes
    }

    struct Entry: Equatable {
        struct Row: Equatable {
            var kind: EntityChanges.Kind
            var key: [UInt8]
            var fields: ChangedFields
        }
        var nonce: UInt64
        var origin: UInt64
        var time: Date
        /// By entity number; nil rows mean "many".
        var entities: [(entity: Int, rows: [Row]?)]

        var stamp: CommitStamp { CommitStamp(nonce: nonce, time: time) }

        static func == (a: Entry, b: Entry) -> Bool {
            a.nonce == b.nonce && a.origin == b.origin && a.time == b.time
                && a.entities.map(\.entity) == b.entities.map(\.entity)
                && a.entities.map(\.rows) == b.entities.map(\.rows)
        }
    }

    func entry(_ sequence: UInt64, in transaction: Transaction) throws -> Entry? {
        try Self.withKey(sequence) { key in
            guard let bytes = try transaction.get(database, key) else { return nil }
            guard let entry = Self.decode(bytes) else {
                throw StoreError(.damaged, "The history entry of commit \(sequence) cannot be read.")
            }
            return entry
        }
    }

    /// Nil for anything that is not an entry of this version. A count is believed no further than there are bytes.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Entry? {
        var offset = 0
        func take(_ count: Int) -> UnsafeRawBufferPointer? {
            guard count <= bytes.count - offset else { return nil }
            defer { offset += count }
            return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
        }
        func read<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type) -> T? {
            take(MemoryLayout<T>.size).map { T(littleEndian: $0.loadUnaligned(as: T.self)) }
        }
        func readRow() -> Entry.Row? {
            guard let kind = read(UInt8.self).flatMap(EntityChanges.Kind.init),
                let key = read(UInt8.self).flatMap({ take(Int($0)) })
            else { return nil }
            var row = Entry.Row(kind: kind, key: Array(key), fields: .none)
            if kind == .updated {
                guard let bits = read(UInt16.self).flatMap({ take(Int($0)) }),
                    let fields = ChangedFields(bytes: bits)
                else { return nil }
                row.fields = fields
            }
            return row
        }
        guard read(UInt8.self) == 1, read(UInt8.self) == 0, let count = read(UInt16.self),
            let nonce = read(UInt64.self), let origin = read(UInt64.self), let time = read(UInt64.self)
        else { return nil }
        var entry = Entry(
            nonce: nonce, origin: origin, time: Date(timeIntervalSinceReferenceDate: Double(bitPattern: time)),
            entities: [])
        for _ in 0..<count {
            guard let entity = read(UInt32.self), let rowCount = read(UInt32.self) else { return nil }
            if rowCount == .max {
                entry.entities.append((Int(entity), nil))
                continue
            }
            var rows: [Entry.Row] = []
            for _ in 0..<rowCount {
                guard let row = readRow() else { return nil }
                rows.append(row)
            }
            entry.entities.append((Int(entity), rows))
        }
        return offset == bytes.count ? entry : nil
    }
}
