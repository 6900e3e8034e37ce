// SPDX-License-Identifier: Apache-2.0

/// Why a part of a predicate has no value on an object.
enum PredicateFailure: Error, CustomStringConvertible {
    case overflow
    case divisionByZero
    case forcedNil
    case indexOutOfBounds
    case invertedRange
    case failedCast

    var description: String {
        switch self {
        case .overflow: "an arithmetic operation overflows"
        case .divisionByZero: "it divides by zero"
        case .forcedNil: "it unwraps nil"
        case .indexOutOfBounds: "an index is out of bounds"
        case .invertedRange: "a range ends before it begins"
        case .failedCast: "a value is not of the type it is cast to"
        }
    }
}
