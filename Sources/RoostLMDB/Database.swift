// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB

/// A handle of one named database, opened once when the environment is opened (hazard 15) and valid until it closes.
package struct Database: Sendable, Equatable {
    /// What the database holds, so that the counters can tell records from index entries.
    ///
    /// The raw value is the place of its count in a transaction's tally.
    package enum Role: Int, Sendable {
        /// Objects by ID.
        case records
        /// Entries of a secondary index.
        case index
        /// The catalog, the commit sequence, the history.
        case housekeeping

        static let count = 3
    }

    let handle: UInt32
    package let role: Role
    /// Nil for the main database, and for names that are too long to be a store's.
    let name: Name?

    init(handle: UInt32, role: Role, name: String?) {
        self.handle = handle
        self.role = role
        self.name = name.flatMap { Name($0) }
    }

    /// At most 16 bytes, in the handle itself: a String would be counted with each copy.
    struct Name: Sendable, Equatable {
        private let first: UInt64
        private let second: UInt64
        private let count: Int

        init?(_ text: String) {
            let bytes = Array(text.utf8)
            guard bytes.count <= 16 else { return nil }
            func word(_ part: ArraySlice<UInt8>) -> UInt64 { part.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
            first = word(bytes.prefix(8)).littleEndian
            second = word(bytes.dropFirst(8)).littleEndian
            count = bytes.count
        }

        func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            Swift.withUnsafeBytes(of: (first, second)) { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}

/// Size and shape of one database, as LMDB keeps them.
package struct DatabaseStatistics: Sendable {
    package let entries: Int
    package let depth: Int
    package let pages: Int
    package let pageSize: Int
}

/// What all ended read transactions of an environment did together.
package struct ReadTotals: Sendable, Equatable {
    /// Snapshots that were read from; reads that joined an outer one are part of it.
    package private(set) var reads = 0
    package private(set) var counters = Counters()

    mutating func add(_ counters: Counters) {
        reads += 1
        self.counters.recordsRead += counters.recordsRead
        self.counters.entriesVisited += counters.entriesVisited
    }
}

/// What one transaction did, counted in the cursor and get calls of this module and nowhere else.
package struct Counters: Sendable, Equatable {
    /// Records fetched or passed by a cursor, filtered out or not.
    package var recordsRead = 0
    /// Index entries that a cursor stood on.
    package var entriesVisited = 0

    package init() {}

    package static func - (after: Counters, before: Counters) -> Counters {
        var difference = Counters()
        difference.recordsRead = after.recordsRead - before.recordsRead
        difference.entriesVisited = after.entriesVisited - before.entriesVisited
        return difference
    }
}
