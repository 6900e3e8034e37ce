// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.DictionaryKeySubscript: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (wrapped, key) = (try node.wrapped.compiled(context), try node.key.compiled(context))
        return Compiled(wrapped.traits.union(key.traits)) { try wrapped($0)[key($0)] }
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (wrapped, key) = (try node.wrapped.compiled(context), try node.key.compiled(context))
        let defaultValue = try node.default.compiled(context)
        return Compiled(wrapped.traits.union(key.traits).union(defaultValue.traits)) {
            try wrapped($0)[key($0)] ?? defaultValue($0)
        }
    }
}
