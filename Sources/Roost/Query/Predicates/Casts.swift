// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.TypeCheck: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let input = try node.input.compiled(context)
        return Compiled(input.traits) { try input($0) is Desired }
    }
}

extension PredicateExpressions.ConditionalCast: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let input = try node.input.compiled(context)
        return Compiled(input.traits) { try input($0) as? Desired }
    }
}

extension PredicateExpressions.ForceCast: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let input = try node.input.compiled(context)
        return Compiled(input.traits.union(.canFail)) {
            guard let value = try input($0) as? Desired else { throw PredicateFailure.failedCast }
            return value
        }
    }
}

extension PredicateFailure {
    static let failedCast = PredicateFailure(description: "a value is not of the type it is cast to")
}
