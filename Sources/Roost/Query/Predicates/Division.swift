// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.IntDivision: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (left, right) = (try lhs.checkedValue(bindings), try rhs.checkedValue(bindings))
        guard right != 0 else { throw PredicateFailure.divisionByZero }
        guard let (value, overflow) = Self.divided(left, right) else { return left / right }
        guard !overflow, let result = value as? Output else { throw PredicateFailure.overflow }
        return result
    }
    var operandsCanFail: Bool { true }

    private static func divided(_ left: Any, _ right: Any) -> (Any, Bool)? {
        func divide<Integer: FixedWidthInteger>(_ left: Integer) -> (Any, Bool)? {
            guard let right = right as? Integer else { return nil }
            let (value, overflow) = left.dividedReportingOverflow(by: right)
            return (value, overflow)
        }
        guard let left = left as? any FixedWidthInteger else { return nil }
        return divide(left)
    }
}

extension PredicateExpressions.IntRemainder: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (left, right) = (try lhs.checkedValue(bindings), try rhs.checkedValue(bindings))
        guard right != 0 else { throw PredicateFailure.divisionByZero }
        // The remainder of any number by -1 is 0, though the division may overflow.
        return left.magnitude == right.magnitude || right.magnitude == 1 ? 0 : left % right
    }
    var operandsCanFail: Bool { true }
}

extension PredicateExpressions.FloatDivision: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        try lhs.checkedValue(bindings) / rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}
