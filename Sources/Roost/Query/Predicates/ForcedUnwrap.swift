// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.ForcedUnwrap: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let inner = try node.inner.compiled(context)
        return Compiled(inner.traits.union(.canFail)) {
            guard let value = try inner($0) else { throw PredicateFailure.forcedNil }
            return value
        }
    }
}

extension PredicateFailure {
    static let forcedNil = PredicateFailure(description: "it unwraps nil")
}
