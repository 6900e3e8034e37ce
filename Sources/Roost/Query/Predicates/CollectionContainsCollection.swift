// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.CollectionContainsCollection: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try base.checkedValue(bindings).contains(other.checkedValue(bindings))
    }
    var operandsCanFail: Bool { base.canFail || other.canFail }
}
