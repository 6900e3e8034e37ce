// SPDX-License-Identifier: Apache-2.0

/// Why a part of a predicate has no value on an object. Each is declared beside the node that throws it.
struct PredicateFailure: Error, Hashable, CustomStringConvertible {
    let description: String
}
