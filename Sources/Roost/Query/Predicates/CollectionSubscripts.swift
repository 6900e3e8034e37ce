// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.CollectionIndexSubscript: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (wrapped, index) = (try node.wrapped.compiled(context), try node.index.compiled(context))
        // An index of another kind may be of another collection, which only comparing it with each tells.
        let isDense = Wrapped.Output.Index.self == Int.self && Wrapped.Output.self is any RandomAccessCollection.Type
        return Compiled(wrapped.traits.union(index.traits).union(.canFail)) {
            let (collection, position) = (try wrapped($0), try index($0))
            let exists =
                isDense
                ? collection.startIndex <= position && position < collection.endIndex
                : collection.indices.contains { $0 == position }
            guard exists else { throw PredicateFailure.indexOutOfBounds }
            return collection[position]
        }
    }
}

extension PredicateExpressions.CollectionRangeSubscript: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (wrapped, range) = (try node.wrapped.compiled(context), try node.range.compiled(context))
        return Compiled(wrapped.traits.union(range.traits).union(.canFail)) {
            let (collection, range) = (try wrapped($0), try range($0))
            guard collection.startIndex <= range.lowerBound, range.upperBound <= collection.endIndex else {
                throw PredicateFailure.indexOutOfBounds
            }
            return collection[range]
        }
    }
}

extension PredicateFailure {
    static let indexOutOfBounds = PredicateFailure(description: "an index is out of bounds")
}
