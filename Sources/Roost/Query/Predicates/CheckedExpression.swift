// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Evaluation of a predicate's part on an object without Foundation's traps: arithmetic that overflows, a division by zero
/// and an index out of bounds throw instead.
///
/// Every node whose own operation can trap, or which stands above such nodes, evaluates its operands through
/// `checkedValue`; a node that is not known here is left to Foundation.
protocol CheckedExpression: PredicateExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output
    /// Whether it can fail on some object, by itself or below.
    var operandsCanFail: Bool { get }
}

extension PredicateExpression {
    func checkedValue(_ bindings: PredicateBindings) throws -> Output {
        if let checked = self as? any CheckedExpression, let value = try checked.checked(bindings) as? Output {
            return value
        }
        return try evaluate(bindings)
    }

    /// Whether evaluation can fail on some object. True for nodes that are not known.
    var canFail: Bool { (self as? any CheckedExpression)?.operandsCanFail ?? true }
}
