// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Disjunction: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        .condition(Filter.union([context.condition(lhs), context.condition(rhs)]))
    }
}

extension PredicateExpressions.Disjunction: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try lhs.checkedValue(bindings) || rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}

extension Filter {
    /// A disjunction; tests of one field for equality become one set, which an index or the IDs can serve.
    static func union(_ filters: [Filter]) -> Filter {
        var parts: [Filter] = []
        for filter in filters {
            if case .or(let inner) = filter { parts += inner } else { parts.append(filter) }
        }
        var merged: Set<StoredValue> = []
        var position: Int?
        for part in parts {
            let field: Int
            switch part {
            case .compare(let comparison) where comparison.operation == .equal:
                field = comparison.position
                merged.insert(comparison.value)
            case .isIn(let position, let values):
                field = position
                merged.formUnion(values)
            default: return .or(parts)
            }
            if position != nil && position != field { return .or(parts) }
            position = field
        }
        return position.map { .isIn(position: $0, values: merged) } ?? .or(parts)
    }
}
