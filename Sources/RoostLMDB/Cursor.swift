// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB

/// A position in one database. Non-copyable: it closes when its scope ends, also by a thrown error (hazard 35), and so
/// before the transaction that opened it.
package struct Cursor: ~Copyable {
    private let handle: OpaquePointer
    /// Where its moves are counted. The cursor lives inside the body that the transaction was handed to, so the
    /// transaction outlives it.
    private let moves: UnsafeMutablePointer<Int>
    private var entryKey = MDB_val()
    private var entryValue = MDB_val()

    /// The entry that the cursor stands on; meaningful after a move that returned true.
    package var key: UnsafeRawBufferPointer { entryKey.buffer }
    package var value: UnsafeRawBufferPointer { entryValue.buffer }

    init(handle: OpaquePointer, transaction: Transaction, role: Database.Role) {
        self.handle = handle
        moves = transaction.tally + role.rawValue
    }

    deinit { mdb_cursor_close(handle) }

    package mutating func first() throws(LMDBError) -> Bool { try move(MDB_FIRST) }
    package mutating func last() throws(LMDBError) -> Bool { try move(MDB_LAST) }
    package mutating func next() throws(LMDBError) -> Bool { try move(MDB_NEXT) }
    package mutating func previous() throws(LMDBError) -> Bool { try move(MDB_PREV) }

    /// Calls `body` with key and value of every entry, in order; what it throws ends the loop and passes through.
    package mutating func forEach(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var stands = try move(MDB_FIRST)
        while stands {
            try body(key, value)
            stands = try move(MDB_NEXT)
        }
    }

    /// Stands on the first entry whose key is not below `bound`.
    package mutating func seek(atLeast bound: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        if bound.isEmpty { return try first() }
        return try move(MDB_SET_RANGE, from: bound)
    }

    /// Stands on the last entry whose key is below `bound`.
    package mutating func seek(below bound: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        if bound.isEmpty { return false }
        // The entry at or above the bound is not one of the caller's: only the one before it is counted.
        entryKey = MDB_val(bound)
        let code = mdb_cursor_get(handle, &entryKey, &entryValue, MDB_SET_RANGE)
        if code == MDB_NOTFOUND { return try last() }
        try check(code, "mdb_cursor_get")
        return try previous()
    }

    /// Stands on `exact`. False, with the position undefined, when it is not there.
    package mutating func seek(exactly exact: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        try move(MDB_SET_KEY, from: exact)
    }

    @inline(__always)
    private mutating func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
        let code = mdb_cursor_get(handle, &entryKey, &entryValue, operation)
        if code == MDB_SUCCESS {
            moves.pointee &+= 1
            return true
        }
        if code == MDB_NOTFOUND { return false }
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
