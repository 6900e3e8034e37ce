// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.CollectionIndexSubscript: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (collection, position) = (try wrapped.checkedValue(bindings), try index.checkedValue(bindings))
        guard collection.indices.contains(where: { $0 == position }) else { throw PredicateFailure.indexOutOfBounds }
        return collection[position]
    }
    var operandsCanFail: Bool { true }
}

extension PredicateExpressions.CollectionRangeSubscript: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Wrapped.Output.SubSequence {
        let (collection, range) = (try wrapped.checkedValue(bindings), try range.checkedValue(bindings))
        guard collection.startIndex <= range.lowerBound, range.upperBound <= collection.endIndex else {
            throw PredicateFailure.indexOutOfBounds
        }
        return collection[range]
    }
    var operandsCanFail: Bool { true }
}
