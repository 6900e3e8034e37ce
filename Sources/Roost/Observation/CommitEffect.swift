// SPDX-License-Identifier: Apache-2.0

/// What a commit means for an observation's result.
enum CommitEffect: Sendable {
    /// Nothing: it is the same as before.
    case none
    /// It may be another one, from this place on.
    case change(from: ResultPlace)
    /// Only the program's own code can tell, which must not run where commits are delivered. Nil where there is too much
    /// to be kept for it.
    case unknown(Match?)

    /// What has to be matched.
    struct Match: Sendable {
        /// Bytes of memory that it takes.
        let byteCount: Int
        /// From where on the result may have changed; nil when it has not. It may throw nothing, take any time, and stops early, with any answer, once
        /// it is not wanted.
        let place: @Sendable (_ isWanted: () -> Bool) -> ResultPlace?
    }
}

/// A place in a result's order.
enum ResultPlace: Sendable, Comparable {
    /// Before everything, or not known.
    case anywhere
    /// Sort key and ID of an object that has its place here (`RequestedOrder.appendKey`).
    case at([UInt8])

    static func < (a: ResultPlace, b: ResultPlace) -> Bool {
        switch (a, b) {
        case (.anywhere, .at): true
        case (.at(let a), .at(let b)): a.lexicographicallyPrecedes(b)
        default: false
        }
    }
}
