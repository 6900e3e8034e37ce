// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Disjunction: ConditionNode {
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter? {
        try context.joined(.or, node.lhs, node.rhs).map { .union($0) }
    }

    static func collect(
        _ node: Operand<Self>, _ junction: Filter.Junction, into parts: inout [Filter], _ context: LoweringContext
    ) throws {
        guard junction == .or else { return parts.append(try node.condition(context)) }
        try context.countPart()
        try context.descend {
            try node.lhs.collect(junction, into: &parts, context)
            try node.rhs.collect(junction, into: &parts, context)
        }
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (lhs, rhs) = (try node.lhs.compiled(context), try node.rhs.compiled(context))
        return Compiled(lhs.traits.union(rhs.traits)) { try lhs($0) || rhs($0) }
    }
}

extension Filter {
    /// A disjunction; tests of one field for equality become one set, which an index or the IDs can serve.
    ///
    /// Nothing is moved past a part that can throw: it must still be evaluated where it would have been.
    static func union(_ parts: [Filter]) -> Filter {
        var merged: [Filter] = []
        /// Values found since the last part that can throw, by field; each set's place in `merged` was kept for it.
        var sets: [Int: (place: Int, values: Set<StoredValue>)] = [:]
        func finishSets() {
            for (position, set) in sets where set.values.count > 1 {
                merged[set.place] = .isIn(position: position, values: set.values)
            }
            sets.removeAll()
        }
        for part in parts {
            switch part {
            case .constant(false): continue
            // Nothing is in an empty set, which must not take a set's place.
            case .isIn(_, let values) where values.isEmpty: continue
            case .compare(let comparison) where comparison.operation == .equal:
                if sets[comparison.position]?.values.insert(comparison.value) == nil {
                    sets[comparison.position] = (merged.count, [comparison.value])
                    merged.append(part)
                }
            case .isIn(let position, let values):
                if sets[position]?.values.formUnion(values) == nil {
                    sets[position] = (merged.count, values)
                    merged.append(part)
                }
            default:
                if part.canThrow { finishSets() }
                merged.append(part)
            }
        }
        finishSets()
        switch merged.count {
        case 0: return .constant(false)
        case 1: return merged[0]
        default: return .or(merged)
        }
    }
}
