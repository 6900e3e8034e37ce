// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

struct ExactSumTests {
    private func sum(_ values: [Double]) -> Double {
        var sum = ExactSum()
        for value in values { sum.add(value) }
        return sum.value
    }

    @Test func whatRoundingLosesIsNotLost() {
        #expect(sum([1e16, 1, -1e16]) == 1)
        #expect(sum([0.1, 0.2, 0.3]) == 0.6)
        #expect(sum([1e308, 1e308, -1e308]) == 1e308)
        #expect(sum([.greatestFiniteMagnitude, .greatestFiniteMagnitude]) == .infinity)
        #expect(sum([.leastNonzeroMagnitude, .leastNonzeroMagnitude]) == 2 * .leastNonzeroMagnitude)
        #expect(sum([-.leastNonzeroMagnitude, 1, -1]) == -.leastNonzeroMagnitude)
        #expect(sum([.infinity, -.infinity]).isNaN && sum([1, .nan]).isNaN)
        #expect(sum([]).sign == .plus && sum([-0.0]).sign == .plus)
        // Halfway, to the even one, and what is beyond it.
        let unit = 9_007_199_254_740_992.0
        #expect(sum([unit, 1]) == unit && sum([unit, 1, .leastNonzeroMagnitude]) == unit + 2)
        #expect(sum([unit + 2, 1]) == unit + 4 && sum([unit + 2, 1, -.leastNonzeroMagnitude]) == unit + 2)
    }

    @Test func itIsTheRoundedExactSumInAnyOrderAndWhatIsTakenAwayIsGone() {
        var random = SeededGenerator()
        for _ in 0..<repetitions(2_000, thorough: 200_000) {
            let wide = Bool.random(using: &random)
            let values = (0..<Int.random(in: 0..<30, using: &random)).map { _ -> Double in
                let exponent =
                    wide ? Int.random(in: -1_074...1_000, using: &random) : Int.random(in: -60...60, using: &random)
                return scalbn(Double.random(in: -1...1, using: &random), exponent)
            }
            // Nothing but -0.0, which the smallest of them round to, adds up to 0.
            let expected = PlainRequest.sum(values) + 0
            #expect(sum(values).bitPattern == expected.bitPattern)
            #expect(sum(values.shuffled(using: &random)).bitPattern == expected.bitPattern)
            var sum = ExactSum()
            let others = values + [1e300, .nan, .infinity, -0.0, 3]
            for value in others.shuffled(using: &random) { sum.add(value) }
            for value in [3, -0.0, .infinity, .nan, 1e300] { sum.subtract(value) }
            #expect(sum.value.bitPattern == expected.bitPattern)
        }
    }
}
