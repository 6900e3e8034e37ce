// SPDX-License-Identifier: Apache-2.0

/// How many cases had what they are there for.
struct Tally {
    var cases = 0
    var plans = 0
    var ties = 0
    var nils = 0
    var nans = 0
    var unnormalized = 0
    var empty = 0
    var chunked = 0
    /// Rows that a chunk of a result holds.
    static let chunk = 1_000

    var shares: [(name: String, percent: Double)] {
        func share(_ count: Int) -> Double { cases == 0 ? 0 : Double(count * 1_000 / cases) / 10 }
        return [
            ("ties", share(ties)), ("nil", share(nils)), ("NaN", share(nans)), ("non-NFC text", share(unnormalized)),
            ("empty results", share(empty)), ("results of several chunks", share(chunked)),
        ]
    }

    static func += (lhs: inout Tally, rhs: Tally) {
        lhs.cases += rhs.cases
        lhs.plans += rhs.plans
        lhs.ties += rhs.ties
        lhs.nils += rhs.nils
        lhs.nans += rhs.nans
        lhs.unnormalized += rhs.unnormalized
        lhs.empty += rhs.empty
        lhs.chunked += rhs.chunked
    }
}
