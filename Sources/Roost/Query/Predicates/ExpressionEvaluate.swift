// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.ExpressionEvaluate: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let inner = try expression.checkedValue(bindings)
        var values = PredicateBindings()
        repeat values[each inner.variable] = try (each input).checkedValue(bindings)
        return try inner.expression.checkedValue(values)
    }
    var operandsCanFail: Bool { true }
}
