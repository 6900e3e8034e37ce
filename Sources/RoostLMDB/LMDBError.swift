// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB

/// A return code of LMDB (or of the system below it) with the call that gave it.
package struct LMDBError: Error, Sendable {
    /// LMDB's own codes are negative, `errno` values positive.
    package let code: Int32

    /// The LMDB or system call that failed, such as `mdb_put`.
    package let operation: StaticString

    package init(code: Int32, operation: StaticString) {
        self.code = code
        self.operation = operation
    }

    /// LMDB's wording of the code.
    package var message: String { String(cString: mdb_strerror(code)) }

    package var isMapFull: Bool { code == MDB_MAP_FULL }
    package var isTransactionFull: Bool { code == MDB_TXN_FULL }
    package var isReadersFull: Bool { code == MDB_READERS_FULL }
    /// The file has grown beyond this process's map, which could not be made anew.
    package var isMapResized: Bool { code == MDB_MAP_RESIZED }
    /// The environment has been closed: no code of LMDB's.
    static let closed = LMDBError(code: .min + 1, operation: "write")
    var isClosed: Bool { code == Self.closed.code }
    package var isInvalidFile: Bool {
        [MDB_INVALID, MDB_VERSION_MISMATCH, MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_PANIC].contains(code)
    }
}

/// Throws unless `code` is success. The throwing half is kept out of line: it is never on a hot path.
@inline(__always)
func check(_ code: Int32, _ operation: StaticString) throws(LMDBError) {
    if code != MDB_SUCCESS { throw failure(code, operation) }
}

@inline(never)
func failure(_ code: Int32, _ operation: StaticString) -> LMDBError {
    LMDBError(code: code, operation: operation)
}
