// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.ForcedUnwrap: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        guard let value = try inner.checkedValue(bindings) else { throw PredicateFailure.forcedNil }
        return value
    }
    var operandsCanFail: Bool { true }
}
