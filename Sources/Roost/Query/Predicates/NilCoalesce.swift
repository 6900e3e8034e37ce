// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.NilCoalesce: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (lhs, rhs) = (try node.lhs.compiled(context), try node.rhs.compiled(context))
        return Compiled(lhs.traits.union(rhs.traits)) { try lhs($0) ?? rhs($0) }
    }
}
