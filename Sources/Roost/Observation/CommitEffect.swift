// SPDX-License-Identifier: Apache-2.0

/// What a commit means for an observation's result.
enum CommitEffect: Sendable {
    /// Nothing: it is the same as before.
    case none
    /// It may be another one.
    case change
    /// Only the program's own code can tell, which must not run where commits are delivered. Nil where there is too much
    /// to be kept for it.
    case unknown(Match?)

    /// What has to be matched.
    struct Match: Sendable {
        /// Bytes of memory that it takes.
        let byteCount: Int
        /// Whether the result may have changed. It may throw nothing, take any time, and stops early, with any answer, once
        /// it is not wanted.
        let holds: @Sendable (_ isWanted: () -> Bool) -> Bool
    }
}
