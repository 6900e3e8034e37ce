// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.SequenceContainsWhere: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (sequence, test) = (try node.sequence.compiled(context), try node.test.compiled(context))
        let variable = node.variable.copy()
        return Compiled(sequence.traits.union(test.traits)) { evaluation in
            var inner = evaluation
            return try sequence(evaluation).contains { element in
                inner.bindings[variable] = element
                return try test(inner)
            }
        }
    }
}

extension PredicateExpressions.SequenceAllSatisfy: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (sequence, test) = (try node.sequence.compiled(context), try node.test.compiled(context))
        let variable = node.variable.copy()
        return Compiled(sequence.traits.union(test.traits)) { evaluation in
            var inner = evaluation
            return try sequence(evaluation).allSatisfy { element in
                inner.bindings[variable] = element
                return try test(inner)
            }
        }
    }
}

extension PredicateExpressions.Filter: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<[Element]> {
        let (sequence, test) = (try node.sequence.compiled(context), try node.filter.compiled(context))
        let variable = node.variable.copy()
        return Compiled(sequence.traits.union(test.traits)) { evaluation in
            var inner = evaluation
            return try sequence(evaluation).filter { element in
                inner.bindings[variable] = element
                return try test(inner)
            }
        }
    }
}
