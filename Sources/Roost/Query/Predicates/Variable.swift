// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Variable: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm { context.isRoot(key) ? .path(nil) : .unknown }
}

extension PredicateExpressions.Variable: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output { try evaluate(bindings) }
    var operandsCanFail: Bool { false }
}
