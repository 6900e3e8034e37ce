// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Arithmetic: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (left, right) = (try lhs.checkedValue(bindings), try rhs.checkedValue(bindings))
        if let left = left as? any FixedWidthInteger, let result = try integers(left, right) as? Output {
            return result
        }
        switch op {
        case .add: return left + right
        case .subtract: return left - right
        case .multiply: return left * right
        @unknown default: return try evaluate(bindings)
        }
    }
    var operandsCanFail: Bool { true }

    private func integers<Integer: FixedWidthInteger>(_ left: Integer, _ right: Any) throws -> Integer {
        guard let right = right as? Integer else { throw PredicateFailure.failedCast }
        let (value, overflow) =
            switch op {
            case .add: left.addingReportingOverflow(right)
            case .subtract: left.subtractingReportingOverflow(right)
            case .multiply: left.multipliedReportingOverflow(by: right)
            @unknown default: (left, true)
            }
        guard !overflow else { throw PredicateFailure.overflow }
        return value
    }
}

extension PredicateExpressions.UnaryMinus: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let value = try wrapped.checkedValue(bindings)
        if let integer = value as? any FixedWidthInteger, let result = try Self.negated(integer) as? Output {
            return result
        }
        return -value
    }
    var operandsCanFail: Bool { true }

    private static func negated<Integer: FixedWidthInteger>(_ value: Integer) throws -> Integer {
        let (result, overflow) = (0 as Integer).subtractingReportingOverflow(value)
        guard !overflow else { throw PredicateFailure.overflow }
        return result
    }
}
