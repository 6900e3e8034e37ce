// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Conditional: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        try test.checkedValue(bindings) ? trueBranch.checkedValue(bindings) : falseBranch.checkedValue(bindings)
    }
    var operandsCanFail: Bool { test.canFail || trueBranch.canFail || falseBranch.canFail }
}
