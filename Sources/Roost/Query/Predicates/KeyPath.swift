// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.KeyPath: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        guard case .path(let outer) = root.term(context) else { return .unknown }
        guard let outer else { return .path(keyPath) }
        guard let path = outer.appending(path: keyPath) else { return .unknown }
        return .path(path)
    }
}

extension PredicateExpressions.KeyPath: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        try root.checkedValue(bindings)[keyPath: keyPath]
    }
    var operandsCanFail: Bool { root.canFail }
}
