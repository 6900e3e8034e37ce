// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// Keeps the entries of indexes in step with the records, in one write transaction.
///
/// A new entry is put before the one that it replaces is deleted: a tree that is emptied and filled again costs the file a
/// page each time, since LMDB uses no page twice in a transaction that it was given up in.
struct IndexMaintenance {
    private var oldKeys = EntryKeys()
    private var newKeys = EntryKeys()
    /// How the number of cut keys of each index changed, by database.
    private(set) var inexactChange: [Int: Int] = [:]
    /// How many keys were built, for tests.
    private(set) var keysMade = 0

    /// Makes the entries those of `new`, after `old`; either is nil where there is no record. Nothing is looked at, and no
    /// key is built, for an index whose fields have the same bytes in both; where elements were only added to an array, none
    /// but theirs.
    ///
    /// Where `old` is not as it was written, and so may not be what the entries were made of, each index is searched for
    /// entries of this object, from end to end.
    ///
    /// Throws `RecordFailure` for a new record that is none, and `LMDBError`; the transaction must then be given up.
    mutating func update(
        _ indexes: [StoredIndex], _ layout: RecordLayout, key: UnsafeRawBufferPointer, old: UnsafeRawBufferPointer?,
        new: UnsafeRawBufferPointer?, in transaction: Transaction
    ) throws {
        if indexes.isEmpty { return }
        let before = old.flatMap {
            RecordView.hasValidChecksum(key: key, record: $0)
                ? try? RecordView(key: key, record: $0, layout: layout) : nil
        }
        let after = try new.map { try RecordView(key: key, record: $0, layout: layout) }
        for index in indexes {
            if let before, let after, index.hasSameFields(before, after) { continue }
            newKeys.removeAll()
            oldKeys.removeAll()
            if let before, let after, let added = index.addedElements(from: before, to: after) {
                try index.appendElementKeys(of: after, in: added, to: &newKeys)
                newKeys.sort()
                try replace(index, in: transaction)
                continue
            }
            if let after { try index.appendKeys(of: after, to: &newKeys) }
            newKeys.sort()
            if old != nil {
                do throws(RecordFailure) {
                    guard let before else { throw .truncated }
                    try index.appendKeys(of: before, to: &oldKeys)
                    oldKeys.sort()
                } catch {
                    try search(index, layout, key, transaction)
                }
            }
            try replace(index, in: transaction)
        }
    }

    private mutating func replace(_ index: StoredIndex, in transaction: Transaction) throws {
        keysMade += newKeys.count + oldKeys.count
        var inexact = 0
        try newKeys.forEach(notIn: oldKeys) { entry, isExact in
            let isNew = try transaction.put(
                index.database, key: entry, value: UnsafeRawBufferPointer(start: nil, count: 0), overwrite: false)
            if isNew && !isExact { inexact += 1 }
        }
        try oldKeys.forEach(notIn: newKeys) { entry, isExact in
            if try transaction.delete(index.database, key: entry), !isExact { inexact -= 1 }
        }
        if inexact != 0 { inexactChange[index.databaseNumber, default: 0] += inexact }
    }

    /// Makes `oldKeys` the object's entries that the index really has: every entry is looked at.
    private mutating func search(
        _ index: StoredIndex, _ layout: RecordLayout, _ key: UnsafeRawBufferPointer, _ transaction: Transaction
    ) throws {
        oldKeys.removeAll()
        var cursor = try transaction.cursor(index.database)
        try cursor.forEach { entry, _ in
            guard entry.count >= key.count,
                StoredOrder.of(UnsafeRawBufferPointer(rebasing: entry.suffix(key.count)), key) == .equal,
                let place = index.place(inEntry: entry, width: layout.idKeyWidth),
                entry.count - place.idStart == key.count
            else { return }
            oldKeys.append(entry, isExact: place.isExact)
        }
        oldKeys.sort()
    }
}

extension StoredIndex {
    /// Whether the indexed fields have the same bytes in both records of an object. False where they cannot be read.
    fileprivate func hasSameFields(_ a: RecordView, _ b: RecordView) -> Bool {
        for component in components {
            let position = component.position
            if a.isNull(position) != b.isNull(position) { return false }
            guard let left = try? a.bytes(position), let right = try? b.bytes(position),
                StoredOrder.of(left, right) == .equal
            else { return false }
        }
        return true
    }
}
