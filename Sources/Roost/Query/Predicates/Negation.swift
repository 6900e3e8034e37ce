// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Negation: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm { .condition(.not(context.condition(wrapped))) }
}

extension PredicateExpressions.Negation: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool { try !wrapped.checkedValue(bindings) }
    var operandsCanFail: Bool { wrapped.canFail }
}
