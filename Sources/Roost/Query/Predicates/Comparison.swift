// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Comparison: ConditionNode {
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter? {
        let (left, right) = (try node.lhs.term(context), try node.rhs.term(context))
        if let compared = left.comparedField(context) {
            guard let value = try context.storedValue(node.rhs, right) else { return nil }
            return comparison(compared, node.op, value, context)
        }
        if let compared = right.comparedField(context) {
            guard let value = try context.storedValue(node.lhs, left) else { return nil }
            return comparison(compared, node.op.turned, value, context)
        }
        return nil
    }

    private static func comparison(
        _ compared: ComparedField, _ op: PredicateExpressions.ComparisonOperator?, _ value: StoredValue,
        _ context: LoweringContext
    ) -> Filter? {
        guard compared.field.isOrderedAsStored, context.fieldType(compared.position).scalar != nil,
            let operation = op?.operation
        else { return nil }
        return compared.filter(.comparison(compared.position, operation, value)) {
            operation.holds(.of($0, value))
        }
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (lhs, rhs) = (try node.lhs.compiled(context), try node.rhs.compiled(context))
        let traits = lhs.traits.union(rhs.traits)
        if LHS.Output.self == String.self {
            return textComparison(lhs.rebound(to: String.self), rhs.rebound(to: String.self), node.op, traits)
        }
        switch node.op {
        case .lessThan: return Compiled(traits) { try lhs($0) < rhs($0) }
        case .lessThanOrEqual: return Compiled(traits) { try lhs($0) <= rhs($0) }
        case .greaterThan: return Compiled(traits) { try lhs($0) > rhs($0) }
        case .greaterThanOrEqual: return Compiled(traits) { try lhs($0) >= rhs($0) }
        @unknown default: return try node.foreign(context)
        }
    }

    /// Text has one order everywhere in the store: see `NormalizedText`.
    private static func textComparison(
        _ lhs: Compiled<String>, _ rhs: Compiled<String>, _ op: PredicateExpressions.ComparisonOperator,
        _ traits: CompiledTraits
    ) -> Compiled<Bool> {
        Compiled(traits) {
            let order = StoredOrder.of(
                .text(NormalizedText.bytes(of: try lhs($0))), .text(NormalizedText.bytes(of: try rhs($0))))
            switch op {
            case .lessThan: return order == .less
            case .lessThanOrEqual: return order != .greater
            case .greaterThan: return order == .greater
            case .greaterThanOrEqual: return order != .less
            @unknown default: return false
            }
        }
    }
}

extension PredicateExpressions.ComparisonOperator {
    fileprivate var operation: Filter.Operation? {
        switch self {
        case .lessThan: .less
        case .lessThanOrEqual: .lessOrEqual
        case .greaterThan: .greater
        case .greaterThanOrEqual: .greaterOrEqual
        @unknown default: nil
        }
    }

    /// The one that says the same with its sides exchanged.
    fileprivate var turned: Self? {
        switch self {
        case .lessThan: .greaterThan
        case .lessThanOrEqual: .greaterThanOrEqual
        case .greaterThan: .lessThan
        case .greaterThanOrEqual: .lessThanOrEqual
        @unknown default: nil
        }
    }
}
