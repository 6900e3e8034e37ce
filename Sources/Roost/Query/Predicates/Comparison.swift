// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Comparison: ConditionNode {
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter? {
        let (left, right) = (try node.lhs.term(context), try node.rhs.term(context))
        if let position = left.position(context) {
            guard let value = try context.storedValue(node.rhs, right) else { return nil }
            return comparison(position, node.op, value, context, turned: false)
        }
        if let position = right.position(context) {
            guard let value = try context.storedValue(node.lhs, left) else { return nil }
            return comparison(position, node.op, value, context, turned: true)
        }
        return nil
    }

    private static func comparison(
        _ position: Int, _ op: PredicateExpressions.ComparisonOperator, _ value: StoredValue,
        _ context: LoweringContext,
        turned: Bool
    ) -> Filter? {
        guard context.isOrdered(position), context.fieldType(position).scalar != nil else { return nil }
        switch (op, turned) {
        case (.lessThan, false), (.greaterThan, true): return .comparison(position, .less, value)
        case (.lessThanOrEqual, false), (.greaterThanOrEqual, true): return .comparison(position, .lessOrEqual, value)
        case (.greaterThan, false), (.lessThan, true): return .comparison(position, .greater, value)
        case (.greaterThanOrEqual, false), (.lessThanOrEqual, true):
            return .comparison(position, .greaterOrEqual, value)
        @unknown default: return nil
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
