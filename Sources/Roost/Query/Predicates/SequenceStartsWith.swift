// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.SequenceStartsWith: ConditionNode {
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter? {
        guard let position = try node.base.term(context).field(context)?.position,
            context.fieldType(position) == .scalar(.string),
            let text = try context.constant(node.prefix) as? String
        else { return nil }
        return .startsWith(position: position, prefix: .init(text))
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (base, prefix) = (try node.base.compiled(context), try node.prefix.compiled(context))
        return Compiled(base.traits.union(prefix.traits)) { try base($0).starts(with: prefix($0)) }
    }
}
