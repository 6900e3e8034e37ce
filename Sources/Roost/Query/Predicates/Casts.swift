// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.TypeCheck: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool { try input.checkedValue(bindings) is Desired }
    var operandsCanFail: Bool { input.canFail }
}

extension PredicateExpressions.ConditionalCast: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Desired? { try input.checkedValue(bindings) as? Desired }
    var operandsCanFail: Bool { input.canFail }
}

extension PredicateExpressions.ForceCast: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Desired {
        guard let value = try input.checkedValue(bindings) as? Desired else { throw PredicateFailure.failedCast }
        return value
    }
    var operandsCanFail: Bool { true }
}
