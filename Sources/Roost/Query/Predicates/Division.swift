// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.IntDivision: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (lhs, rhs) = (try node.lhs.compiled(context), try node.rhs.compiled(context))
        let traits = lhs.traits.union(rhs.traits).union(.canFail)
        func integers<I: FixedWidthInteger>(_: I.Type) -> Compiled<Output> {
            let (lhs, rhs) = (lhs.rebound(to: I.self), rhs.rebound(to: I.self))
            return Compiled<I>(traits) {
                let (left, right) = (try lhs($0), try rhs($0))
                guard right != 0 else { throw PredicateFailure.divisionByZero }
                let (value, overflow) = left.dividedReportingOverflow(by: right)
                guard !overflow else { throw PredicateFailure.overflow }
                return value
            }.rebound(to: Output.self)
        }
        if let type = Output.self as? any FixedWidthInteger.Type { return integers(type) }
        return Compiled(traits) {
            let (left, right) = (try lhs($0), try rhs($0))
            guard right != 0 else { throw PredicateFailure.divisionByZero }
            return left / right
        }
    }
}

extension PredicateExpressions.IntRemainder: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (lhs, rhs) = (try node.lhs.compiled(context), try node.rhs.compiled(context))
        return Compiled(lhs.traits.union(rhs.traits).union(.canFail)) {
            let (left, right) = (try lhs($0), try rhs($0))
            guard right != 0 else { throw PredicateFailure.divisionByZero }
            // The remainder of any number by -1 is 0, though the division may overflow.
            return right.magnitude == 1 ? 0 : left % right
        }
    }
}

extension PredicateExpressions.FloatDivision: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (lhs, rhs) = (try node.lhs.compiled(context), try node.rhs.compiled(context))
        return Compiled(lhs.traits.union(rhs.traits)) { try lhs($0) / rhs($0) }
    }
}

extension PredicateFailure {
    static let divisionByZero = PredicateFailure(description: "it divides by zero")
}
