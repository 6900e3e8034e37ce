// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.CollectionContainsCollection: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (base, other) = (try node.base.compiled(context), try node.other.compiled(context))
        return Compiled(base.traits.union(other.traits)) { try base($0).contains(other($0)) }
    }
}
