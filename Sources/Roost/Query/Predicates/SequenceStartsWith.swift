// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.SequenceStartsWith: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        guard let position = base.term(context).position(context), context.fieldType(position) == .scalar(.string),
            case .constant(let text as String) = prefix.term(context)
        else { return .unknown }
        return .condition(.startsWith(position: position, prefix: .init(text)))
    }
}

extension PredicateExpressions.SequenceStartsWith: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try base.checkedValue(bindings).starts(with: prefix.checkedValue(bindings))
    }
    var operandsCanFail: Bool { base.canFail || prefix.canFail }
}
