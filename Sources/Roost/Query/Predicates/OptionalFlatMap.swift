// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.OptionalFlatMap: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        guard let value = try wrapped.checkedValue(bindings) else { return nil }
        var inner = bindings
        inner[variable] = value
        // The transform gives a Result, or an optional one.
        let transformed = try transform.checkedValue(inner)
        if let result = transformed as? Result { return result }
        return transformed as? Output ?? nil
    }
    var operandsCanFail: Bool { wrapped.canFail || transform.canFail }
}
