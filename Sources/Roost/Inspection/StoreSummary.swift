// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a store's file says about itself, in one snapshot.
package struct StoreSummary: Sendable {
    /// Size and shape of one B-tree.
    package struct Tree: Sendable {
        package let entries: Int
        package let depth: Int
        package let pages: Int
    }

    package struct Field: Sendable {
        package let name: String
        /// As the catalog spells it: `string?`, `[int64]`.
        package let type: String
        package let references: String?
    }

    package struct Layout: Sendable {
        package let number: Int
        /// The fields' names in record order.
        package let fields: [String]
        package let isCurrent: Bool
    }

    package struct Index: Sendable {
        /// `City(country, population)`.
        package let name: String
        package let tree: Tree
        /// Entries whose text or data is longer than a key can hold. While there are any, the index gives no order.
        package let cutKeys: UInt64
    }

    package struct Entity: Sendable {
        package let number: Int
        package let name: String
        package let fields: [Field]
        package let layouts: [Layout]
        package let records: Tree
        package let indexes: [Index]
    }

    package let path: String
    package let storeID: UUID
    package let formatVersion: Int
    /// The Unicode version that text keys were normalised by.
    package let unicodeVersion: String
    package let sequence: UInt64
    /// The commits that the history still knows.
    package let history: ClosedRange<UInt64>?
    package let pageSize: Int
    /// Bytes of the data file.
    package let fileSize: Int
    /// Bytes up to the last page that was ever used; free pages among them are counted.
    package let usedBytes: Int
    /// Address space that this process maps the file into: what the file may grow to.
    package let mapSize: Int
    /// Reader slots in the lock file that other processes hold, and how many there are.
    package let readerSlots: (used: Int, limit: Int)
    /// Commits that the oldest reader of another process lags behind; nil when none reads.
    package let oldestReaderLag: Int?
    package let entities: [Entity]
}
