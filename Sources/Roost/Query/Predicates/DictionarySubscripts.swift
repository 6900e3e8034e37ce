// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.DictionaryKeySubscript: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Value? {
        try wrapped.checkedValue(bindings)[key.checkedValue(bindings)]
    }
    var operandsCanFail: Bool { wrapped.canFail || key.canFail }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Default.Output {
        let (dictionary, key) = (try wrapped.checkedValue(bindings), try key.checkedValue(bindings))
        return try dictionary[key] ?? self.default.checkedValue(bindings)
    }
    var operandsCanFail: Bool { wrapped.canFail || key.canFail || self.default.canFail }
}
