// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.NilCoalesce: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        try lhs.checkedValue(bindings) ?? rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}
