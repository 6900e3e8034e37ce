// SPDX-License-Identifier: Apache-2.0

import RoostTestSupport
import Testing

@testable import Roost

struct IntervalIndexTests {
    private func bytes(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }

    /// Against a list of all ranges that is gone through.
    @Test func namesTheOwnersOfTheRangesThatHoldAKey() {
        var generator = SeededGenerator()
        var index = IntervalIndex()
        var model: [Int: [(lower: Int, upper: Int)]] = [:]
        for owner in 0..<4_000 {
            if Int.random(in: 0..<5, using: &generator) < 3 || model.isEmpty {
                // Beyond the ends is no bound; some are empty.
                let ranges = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                    (Int.random(in: -1..<1_000, using: &generator), Int.random(in: 0...1_001, using: &generator))
                }
                for (lower, upper) in ranges {
                    index.insert(
                        .init(
                            lower: lower < 0 ? nil : bytes(lower), upper: upper > 1_000 ? nil : bytes(upper),
                            owner: owner))
                }
                model[owner] = ranges
            } else if let gone = model.keys.sorted().randomElement(using: &generator), let ranges = model[gone] {
                index.remove(owner: gone, ranges: ranges.count)
                model[gone] = nil
            }
            let key = Int.random(in: 0..<1_000, using: &generator)
            var found: [Int] = []
            index.forEachOwner(of: bytes(key)) { found.append($0) }
            let expected = model.flatMap { owner, ranges in
                ranges.filter { ($0.lower < 0 || $0.lower <= key) && ($0.upper > 1_000 || key < $0.upper) }
                    .map { _ in owner }
            }
            #expect(found.sorted() == expected.sorted())
            #expect(index.count == model.values.reduce(0) { $0 + $1.count })
        }
    }
}
