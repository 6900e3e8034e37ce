// SPDX-License-Identifier: Apache-2.0

/// What the message of an error says about the store that it comes from.
struct StoreCondition {
    /// The store's directory.
    var path: String
    /// Bytes in use at the last commit, how many may be, and how many of the map were never used; nil once the store is
    /// closed. Only asked where the store is full.
    var space: () -> (used: Int, limit: Int, left: Int)?
    /// The process whose read keeps pages of the most commits ago, and of how many. Only asked where the store is full.
    var pinningReader: () -> (process: Int32, lag: Int)?
}
