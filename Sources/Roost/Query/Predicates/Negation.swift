// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Negation: ConditionNode {
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter? {
        .negation(try node.wrapped.condition(context))
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let wrapped = try node.wrapped.compiled(context)
        return Compiled(wrapped.traits) { try !wrapped($0) }
    }
}

extension Filter {
    static func negation(_ filter: Filter) -> Filter {
        switch filter {
        case .constant(let holds): .constant(!holds)
        case .not(let inner): inner
        default: .not(filter)
        }
    }
}
