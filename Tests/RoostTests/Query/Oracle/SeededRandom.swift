// SPDX-License-Identifier: Apache-2.0

import Foundation

/// SplitMix64. The same seed gives the same tests.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The seed of this run: `ROOST_TEST_SEED`, or a new one. Whoever uses it prints it.
    static let seed: UInt64 =
        ProcessInfo.processInfo.environment["ROOST_TEST_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &self)] }

    mutating func several<T>(_ values: [T], _ count: ClosedRange<Int>) -> [T] {
        let count = int(count)
        return (0..<count).map { _ in pick(values) }
    }
}
