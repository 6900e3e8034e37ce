// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A sum of Doubles that loses nothing: whatever is added and taken away again, in whatever order, the result is the
/// exact sum rounded once, to the nearest Double. A fixed-point number with a bit for every exponent: adding touches
/// three words, reading it all of them, about a hundred nanoseconds.
struct ExactSum: Sendable {
    /// Digits to the base of 2^32, each with room for carries, the first worth 2^-1074.
    private var digits = [Int64](repeating: 0, count: Self.digitCount)
    private var additions = 0
    private var nans = 0
    private var positiveInfinities = 0
    private var negativeInfinities = 0

    /// 2,098 bits of values, and 64 that sums of them can take.
    private static let digitCount = 68
    /// Each adds less than 2^32 to a digit, which holds 2^63.
    private static let additionsBeforeCarrying = 1 << 30

    mutating func add(_ value: Double) { add(value, isNegative: value.sign == .minus, 1) }
    mutating func subtract(_ value: Double) { add(value, isNegative: value.sign == .plus, -1) }

    private mutating func add(_ value: Double, isNegative: Bool, _ change: Int) {
        if value.isNaN {
            nans += change
        } else if value == .infinity {
            positiveInfinities += change
        } else if value == -.infinity {
            negativeInfinities += change
        } else if value != 0 {
            let isNormal = value.exponentBitPattern > 0
            let significand = value.significandBitPattern | (isNormal ? 1 << 52 : 0)
            let shift = isNormal ? Int(value.exponentBitPattern) - 1 : 0
            let (digit, bits) = (shift / 32, UInt64(shift % 32))
            let low = significand << bits
            let high = bits == 0 ? 0 : significand >> (64 - bits)
            let sign: Int64 = isNegative ? -1 : 1
            digits[digit] += sign * Int64(low & 0xFFFF_FFFF)
            digits[digit + 1] += sign * Int64(low >> 32)
            digits[digit + 2] += sign * Int64(high)
            additions += 1
            if additions == Self.additionsBeforeCarrying {
                digits = Self.carried(digits)
                additions = 0
            }
        }
    }

    /// All digits but the last from 0 to 2^32 - 1; the last has the sign.
    private static func carried(_ digits: [Int64]) -> [Int64] {
        var digits = digits
        for index in 0..<digits.count - 1 {
            digits[index + 1] += digits[index] >> 32
            digits[index] &= 0xFFFF_FFFF
        }
        return digits
    }

    /// What `+` would give without any rounding in between; 0 is never negative.
    var value: Double {
        if nans > 0 || (positiveInfinities > 0 && negativeInfinities > 0) { return .nan }
        if positiveInfinities > 0 { return .infinity }
        if negativeInfinities > 0 { return -.infinity }
        var digits = Self.carried(digits)
        let isNegative = (digits.last ?? 0) < 0
        if isNegative { digits = Self.carried(digits.map { -$0 }) }
        guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
        let highest = 32 * top + (63 - digits[top].leadingZeroBitCount)
        // The lowest bit that is kept.
        let lowest = max(0, highest - 52)
        func bit(_ position: Int) -> Bool { digits[position / 32] >> Int64(position % 32) & 1 != 0 }
        var significand: UInt64 = 0
        for position in stride(from: highest, through: lowest, by: -1) {
            significand = significand << 1 | (bit(position) ? 1 : 0)
        }
        if lowest > 0, bit(lowest - 1) {
            let below = lowest - 1
            let isMore =
                digits[below / 32] & (1 << Int64(below % 32) - 1) != 0 || digits[..<(below / 32)].contains { $0 != 0 }
            if isMore || significand & 1 != 0 { significand += 1 }
        }
        let magnitude = scalbn(Double(significand), lowest - 1_074)
        return isNegative ? -magnitude : magnitude
    }
}
