// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Conditional: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let test = try node.test.compiled(context)
        let (trueBranch, falseBranch) = (try node.trueBranch.compiled(context), try node.falseBranch.compiled(context))
        return Compiled(test.traits.union(trueBranch.traits).union(falseBranch.traits)) {
            try test($0) ? trueBranch($0) : falseBranch($0)
        }
    }
}
