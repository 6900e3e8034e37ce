// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.SequenceContainsWhere: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        var inner = bindings
        return try sequence.checkedValue(bindings).contains { element in
            inner[variable] = element
            return try test.checkedValue(inner)
        }
    }
    var operandsCanFail: Bool { sequence.canFail || test.canFail }
}

extension PredicateExpressions.SequenceAllSatisfy: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        var inner = bindings
        return try sequence.checkedValue(bindings).allSatisfy { element in
            inner[variable] = element
            return try test.checkedValue(inner)
        }
    }
    var operandsCanFail: Bool { sequence.canFail || test.canFail }
}

extension PredicateExpressions.Filter: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> [Element] {
        var inner = bindings
        return try sequence.checkedValue(bindings).filter { element in
            inner[variable] = element
            return try filter.checkedValue(inner)
        }
    }
    var operandsCanFail: Bool { sequence.canFail || filter.canFail }
}
