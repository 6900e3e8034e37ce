// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Variable: PredicateNode {
    static func term(_ node: Operand<Self>, _ context: LoweringContext) -> LoweredTerm {
        if context.isRoot(node.key, Output.self) { return .path(nil) }
        return context.unwrappedField(node.key).map { .field($0) } ?? .unknown
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) -> Compiled<Output> {
        if context.isRoot(node.key, Output.self) {
            return Compiled(.readsObject) { try $0.object(as: Output.self).pointee }
        }
        let variable = node.copy()
        return Compiled(.readsVariable) { evaluation in
            guard let value = evaluation.bindings[variable] else { throw PredicateFailure.unboundVariable }
            return value
        }
    }
}

extension PredicateFailure {
    static let unboundVariable = PredicateFailure(description: "a variable has no value")
}
