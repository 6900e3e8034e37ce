// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Equal: ConditionNode {
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter? {
        try equality(node.lhs, node.rhs, context)
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (lhs, rhs) = (try node.lhs.compiled(context), try node.rhs.compiled(context))
        return Compiled(lhs.traits.union(rhs.traits)) { try lhs($0) == rhs($0) }
    }
}

extension PredicateExpressions.NotEqual: ConditionNode {
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter? {
        try equality(node.lhs, node.rhs, context).map { .negation($0) }
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (lhs, rhs) = (try node.lhs.compiled(context), try node.rhs.compiled(context))
        return Compiled(lhs.traits.union(rhs.traits)) { try lhs($0) != rhs($0) }
    }
}

/// That a field has a value known before the fetch; nil when the operands are not such.
private func equality<L: PredicateExpression, R: PredicateExpression>(
    _ lhs: Operand<L>, _ rhs: Operand<R>, _ context: LoweringContext
) throws -> Filter? {
    func equality<Constant: PredicateExpression>(
        _ compared: ComparedField, _ constant: Operand<Constant>, _ term: LoweredTerm
    ) throws -> Filter? {
        let position = compared.position
        // Arrays as a whole are compared on the object.
        guard context.fieldType(position).scalar != nil, let value = try context.storedValue(constant, term) else {
            return nil
        }
        return compared.filter(.equality(position, value)) { StoredOrder.of($0, value) == .equal }
    }
    let (left, right) = (try lhs.term(context), try rhs.term(context))
    if let compared = left.comparedField(context) { return try equality(compared, rhs, right) }
    if let compared = right.comparedField(context) { return try equality(compared, lhs, left) }
    return nil
}
