// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Equal: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        equalityTerm(lhs.term(context), rhs.term(context), context).map { .condition($0) } ?? .unknown
    }
}

extension PredicateExpressions.Equal: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try lhs.checkedValue(bindings) == rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}

extension PredicateExpressions.NotEqual: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        equalityTerm(lhs.term(context), rhs.term(context), context).map { .condition(.not($0)) } ?? .unknown
    }
}

extension PredicateExpressions.NotEqual: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try lhs.checkedValue(bindings) != rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}

private func equalityTerm(_ lhs: LoweredTerm, _ rhs: LoweredTerm, _ context: any LoweringContext) -> Filter? {
    func equality(_ field: LoweredTerm, _ constant: LoweredTerm) -> Filter? {
        // Arrays as a whole are compared on the object.
        guard let value = constant.storedValue, let position = field.position(context),
            context.fieldType(position).scalar != nil
        else { return nil }
        return .equality(position, value)
    }
    return equality(lhs, rhs) ?? equality(rhs, lhs)
}
