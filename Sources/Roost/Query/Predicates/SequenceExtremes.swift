// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.SequenceMaximum: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Elements.Output.Element? {
        try elements.checkedValue(bindings).max(by: precedesAsStored)
    }
    var operandsCanFail: Bool { elements.canFail }
}

extension PredicateExpressions.SequenceMinimum: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Elements.Output.Element? {
        try elements.checkedValue(bindings).min(by: precedesAsStored)
    }
    var operandsCanFail: Bool { elements.canFail }
}

/// `<`, for text in the order that it has everywhere in the store: see `NormalizedText`.
private func precedesAsStored<Value: Comparable>(_ lhs: Value, _ rhs: Value) -> Bool {
    guard let left = lhs as? String, let right = rhs as? String else { return lhs < rhs }
    return NormalizedText.bytes(of: left).precedesAsKey(NormalizedText.bytes(of: right))
}
