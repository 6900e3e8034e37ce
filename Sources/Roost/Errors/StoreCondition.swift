// SPDX-License-Identifier: Apache-2.0

/// What the message of an error says about the store that it comes from.
struct StoreCondition {
    /// The store's directory.
    var path: String
    /// Bytes in use, and how many there may be; nil once the store is closed.
    var sizes: (used: Int, limit: Int)?
    /// The age in milliseconds of the read of this process that began first.
    var oldestReaderAge: UInt64?
}
