// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.NilCoalesce: PredicateNode {
    static func term(_ node: Operand<Self>, _ context: LoweringContext) throws -> LoweredTerm {
        guard case .constant(let substitute) = try node.rhs.term(context),
            let field = try node.lhs.term(context).field(context)
        else { return .unknown }
        let value = substitute.storedValue
        return value == .null ? .field(field) : .coalesced(field, value)
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (lhs, rhs) = (try node.lhs.compiled(context), try node.rhs.compiled(context))
        return Compiled(lhs.traits.union(rhs.traits)) { try lhs($0) ?? rhs($0) }
    }
}

/// `if let author = $0.author { … } else { false }`, and an optional chain that ends in a condition.
extension PredicateExpressions.NilCoalesce: ConditionNode where LHS.Output == Bool?, RHS.Output == Bool {
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter? {
        let term = try node.term(context)
        if let compared = term.comparedField(context), context.fieldType(compared.position).scalar == .bool {
            return compared.filter(.equality(compared.position, .bool(true))) { $0 == .bool(true) }
        }
        guard let type = LHS.self as? any UnwrappedCondition.Type,
            case .constant(let substitute as Bool) = try node.rhs.term(context)
        else { return nil }
        func open<N: UnwrappedCondition>(_: N.Type) throws -> Filter? {
            try node.lhs.node(as: N.self).flatMap { try N.filter($0, orElse: substitute, context) }
        }
        return try open(type)
    }
}
