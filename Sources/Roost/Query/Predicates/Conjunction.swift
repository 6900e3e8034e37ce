// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Conjunction: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        .condition(.and([context.condition(lhs), context.condition(rhs)]))
    }
}

extension PredicateExpressions.Conjunction: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try lhs.checkedValue(bindings) && rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}
