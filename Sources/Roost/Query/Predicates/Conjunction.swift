// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Conjunction: ConditionNode {
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter? {
        try context.joined(.and, node.lhs, node.rhs).map { .and($0) }
    }

    static func collect(
        _ node: Operand<Self>, _ junction: Filter.Junction, into parts: inout [Filter], _ context: LoweringContext
    ) throws {
        guard junction == .and else { return parts.append(try node.condition(context)) }
        try context.countPart()
        try context.descend {
            try node.lhs.collect(junction, into: &parts, context)
            try node.rhs.collect(junction, into: &parts, context)
        }
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (lhs, rhs) = (try node.lhs.compiled(context), try node.rhs.compiled(context))
        return Compiled(lhs.traits.union(rhs.traits)) { try lhs($0) && rhs($0) }
    }
}
