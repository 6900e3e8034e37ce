// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Comparison: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        let (left, right) = (lhs.term(context), rhs.term(context))
        if let position = left.position(context), let value = right.storedValue {
            return comparison(position, value, context, turned: false)
        }
        if let position = right.position(context), let value = left.storedValue {
            return comparison(position, value, context, turned: true)
        }
        return .unknown
    }

    private func comparison(
        _ position: Int, _ value: StoredValue, _ context: any LoweringContext, turned: Bool
    ) -> LoweredTerm {
        guard context.isOrdered(position), context.fieldType(position).scalar != nil else { return .unknown }
        let operation: Filter.Operation
        switch (op, turned) {
        case (.lessThan, false), (.greaterThan, true): operation = .less
        case (.lessThanOrEqual, false), (.greaterThanOrEqual, true): operation = .lessOrEqual
        case (.greaterThan, false), (.lessThan, true): operation = .greater
        case (.greaterThanOrEqual, false), (.lessThanOrEqual, true): operation = .greaterOrEqual
        @unknown default: return .unknown
        }
        return .condition(.comparison(position, operation, value))
    }
}

extension PredicateExpressions.Comparison: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        let (left, right) = (try lhs.checkedValue(bindings), try rhs.checkedValue(bindings))
        if let left = left as? String, let right = right as? String { return compare(text: left, right) }
        switch op {
        case .lessThan: return left < right
        case .lessThanOrEqual: return left <= right
        case .greaterThan: return left > right
        case .greaterThanOrEqual: return left >= right
        @unknown default: return try evaluate(bindings)
        }
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }

    /// Text has one order everywhere in the store: see `NormalizedText`.
    private func compare(text left: String, _ right: String) -> Bool {
        let order = StoredOrder.of(
            .text(NormalizedText.bytes(of: left)), .text(NormalizedText.bytes(of: right)))
        switch op {
        case .lessThan: return order == .less
        case .lessThanOrEqual: return order != .greater
        case .greaterThan: return order == .greater
        case .greaterThanOrEqual: return order != .less
        @unknown default: return false
        }
    }
}
