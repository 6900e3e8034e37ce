// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.StringContainsRegex: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try subject.checkedValue(bindings).contains(regex.checkedValue(bindings))
    }
    var operandsCanFail: Bool { subject.canFail || regex.canFail }
}
