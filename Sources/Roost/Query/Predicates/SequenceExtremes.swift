// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.SequenceMaximum: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let elements = try node.elements.compiled(context)
        return Compiled(elements.traits) { try elements($0).max(by: precedesAsStored) }
    }
}

extension PredicateExpressions.SequenceMinimum: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let elements = try node.elements.compiled(context)
        return Compiled(elements.traits) { try elements($0).min(by: precedesAsStored) }
    }
}

/// `<`, for text in the order that it has everywhere in the store: see `NormalizedText`.
private func precedesAsStored<Value: Comparable>(_ lhs: Value, _ rhs: Value) -> Bool {
    guard Value.self == String.self, let left = lhs as? String, let right = rhs as? String else { return lhs < rhs }
    return NormalizedText.bytes(of: left).precedesAsKey(NormalizedText.bytes(of: right))
}
