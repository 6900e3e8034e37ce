// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB

/// A position in one database. Non-copyable: it closes when its scope ends, also by a thrown error (hazard 35), and so
/// before the transaction that opened it.
package struct Cursor: ~Copyable {
    /// LMDB's cursor; nil where the pages are read by ourselves.
    private let handle: OpaquePointer?
    private var path: PagePath?
    /// Where its moves are counted. The cursor lives inside the body that the transaction was handed to, so the
    /// transaction outlives it.
    private let tally: Tally
    private let role: Database.Role
    private var entryKey = MDB_val()
    private var entryValue = MDB_val()

    /// The entry that the cursor stands on; meaningful after a move that returned true.
    package var key: UnsafeRawBufferPointer { path?.key ?? entryKey.buffer }
    package var value: UnsafeRawBufferPointer { path?.value ?? entryValue.buffer }

    init(handle: OpaquePointer, transaction: Transaction, role: Database.Role) {
        self.handle = handle
        tally = transaction.tally
        self.role = role
    }

    init(path: PagePath, transaction: Transaction, role: Database.Role) {
        handle = nil
        self.path = path
        tally = transaction.tally
        self.role = role
    }

    deinit {
        if let handle { mdb_cursor_close(handle) }
        path?.deallocate()
    }

    package mutating func first() throws(LMDBError) -> Bool {
        if let found = try path?.first() { return try counted(found) }
        return try move(MDB_FIRST)
    }

    package mutating func last() throws(LMDBError) -> Bool {
        if let found = try path?.last() { return try counted(found) }
        return try move(MDB_LAST)
    }

    @inline(__always)
    package mutating func next() throws(LMDBError) -> Bool {
        if let found = try path?.next() { return try counted(found) }
        return try move(MDB_NEXT)
    }

    @inline(__always)
    package mutating func previous() throws(LMDBError) -> Bool {
        if let found = try path?.previous() { return try counted(found) }
        return try move(MDB_PREV)
    }

    /// Calls `body` with key and value of every entry, in order; what it throws ends the loop and passes through.
    package mutating func forEach(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if path != nil {
            guard try first() else { return }
            repeat {
                try body(path.unsafelyUnwrapped.key, path.unsafelyUnwrapped.value)
            } while try next()
            return
        }
        guard try move(MDB_FIRST) else { return }
        repeat { try body(entryKey.buffer, entryValue.buffer) } while try move(MDB_NEXT)
    }

    /// Stands on the first entry whose key is not below `bound`.
    package mutating func seek(atLeast bound: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        if bound.isEmpty { return try first() }
        if let found = try path?.seek(atLeast: bound) { return try counted(found) }
        return try move(MDB_SET_RANGE, from: bound)
    }

    /// Stands on the last entry whose key is below `bound`.
    package mutating func seek(below bound: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        if bound.isEmpty { return false }
        if let found = try path?.seek(below: bound) { return try counted(found) }
        // The entry at or above the bound is not one of the caller's: only the one before it is counted.
        entryKey = MDB_val(bound)
        let code = mdb_cursor_get(handle, &entryKey, &entryValue, MDB_SET_RANGE)
        if code == MDB_NOTFOUND { return try last() }
        try check(code, "mdb_cursor_get")
        return try previous()
    }

    /// Stands on `exact`. False, with the position undefined, when it is not there.
    package mutating func seek(exactly exact: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        if let found = try path?.seek(exactly: exact) { return try counted(found) }
        return try move(MDB_SET_KEY, from: exact)
    }

    @inline(__always)
    private func counted(_ found: Bool) throws(LMDBError) -> Bool {
        if found {
            try tally.add(role, bytes: path.unsafelyUnwrapped.value.count)
        } else {
            try tally.addMiss()
        }
        return found
    }

    @inline(__always)
    private mutating func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
        let code = mdb_cursor_get(handle, &entryKey, &entryValue, operation)
        if code == MDB_SUCCESS {
            try tally.add(role, bytes: entryValue.mv_size)
            return true
        }
        if code == MDB_NOTFOUND {
            try tally.addMiss()
            return false
        }
        throw failure(code, "mdb_cursor_get")
    }

    @inline(__always)
    private mutating func move(
        _ operation: MDB_cursor_op, from start: UnsafeRawBufferPointer
    ) throws(LMDBError) -> Bool {
        entryKey = MDB_val(start)
        return try move(operation)
    }
}
