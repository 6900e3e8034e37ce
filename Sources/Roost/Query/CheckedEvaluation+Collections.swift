// SPDX-License-Identifier: Apache-2.0

import Foundation

// The rarer nodes. None can be left to Foundation: what stands below it would be evaluated with its traps.

// MARK: Collections

extension PredicateExpressions.SequenceMaximum: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Elements.Output.Element? {
        try elements.checkedValue(bindings).max(by: precedesAsStored)
    }
    var operandsCanFail: Bool { elements.canFail }
}

extension PredicateExpressions.SequenceMinimum: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Elements.Output.Element? {
        try elements.checkedValue(bindings).min(by: precedesAsStored)
    }
    var operandsCanFail: Bool { elements.canFail }
}

/// `<`, for text in the order that it has everywhere in the store: see `NormalizedText`.
private func precedesAsStored<Value: Comparable>(_ lhs: Value, _ rhs: Value) -> Bool {
    guard let left = lhs as? String, let right = rhs as? String else { return lhs < rhs }
    return NormalizedText.bytes(of: left).precedesAsKey(NormalizedText.bytes(of: right))
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

extension PredicateExpressions.DictionaryKeySubscript: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Value? {
        try wrapped.checkedValue(bindings)[key.checkedValue(bindings)]
    }
    var operandsCanFail: Bool { wrapped.canFail || key.canFail }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Default.Output {
        let (dictionary, key) = (try wrapped.checkedValue(bindings), try key.checkedValue(bindings))
        return try dictionary[key] ?? self.default.checkedValue(bindings)
    }
    var operandsCanFail: Bool { wrapped.canFail || key.canFail || self.default.canFail }
}

extension PredicateExpressions.StringContainsRegex: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try subject.checkedValue(bindings).contains(regex.checkedValue(bindings))
    }
    var operandsCanFail: Bool { subject.canFail || regex.canFail }
}

// MARK: Types and expressions

extension PredicateExpressions.TypeCheck: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool { try input.checkedValue(bindings) is Desired }
    var operandsCanFail: Bool { input.canFail }
}

extension PredicateExpressions.ConditionalCast: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Desired? { try input.checkedValue(bindings) as? Desired }
    var operandsCanFail: Bool { input.canFail }
}

extension PredicateExpressions.ForceCast: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Desired {
        guard let value = try input.checkedValue(bindings) as? Desired else { throw PredicateFailure.failedCast }
        return value
    }
    var operandsCanFail: Bool { true }
}

extension PredicateExpressions.ExpressionEvaluate: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let inner = try expression.checkedValue(bindings)
        var values = PredicateBindings()
        repeat values[each inner.variable] = try (each input).checkedValue(bindings)
        return try inner.expression.checkedValue(values)
    }
    var operandsCanFail: Bool { true }
}
