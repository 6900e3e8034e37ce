// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.RangeExpressionContains: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        guard let position = element.term(context).position(context), context.isOrdered(position),
            context.fieldType(position).scalar != nil,
            let (lower, upper, isClosed) = (range as? any RangeExpressionNode)?.bounds(context)
                ?? (range.constant as? any StoredRange)?.storedBounds
        else { return .unknown }
        // Nothing lies between a number and NaN, whose key would stand above all.
        for case .double(let number) in [lower, upper] where number.isNaN { return .condition(.constant(false)) }
        let from = Filter.compare(.init(position: position, operation: .greaterOrEqual, value: lower))
        let to = Filter.compare(
            .init(position: position, operation: isClosed ? .lessOrEqual : .less, value: upper))
        return .condition(.and([from, to]))
    }
}

extension PredicateExpressions.RangeExpressionContains: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        let bounds: RangeExpression.Output
        do {
            bounds = try range.checkedValue(bindings)
        } catch PredicateFailure.invertedRange {
            // Nothing lies in it.
            return false
        }
        return bounds.contains(try element.checkedValue(bindings))
    }
    var operandsCanFail: Bool { range.canFail || element.canFail }
}

extension PredicateExpressions.Range: RangeExpressionNode {
    fileprivate func bounds(
        _ context: any LoweringContext
    ) -> (lower: StoredValue, upper: StoredValue, isClosed: Bool)? {
        guard let low = lower.term(context).storedValue, let high = upper.term(context).storedValue else { return nil }
        return (low, high, false)
    }
}

extension PredicateExpressions.Range: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (low, high) = (try lower.checkedValue(bindings), try upper.checkedValue(bindings))
        guard low <= high else { throw PredicateFailure.invertedRange }
        return low..<high
    }
    var operandsCanFail: Bool { true }
}

extension PredicateExpressions.ClosedRange: RangeExpressionNode {
    fileprivate func bounds(
        _ context: any LoweringContext
    ) -> (lower: StoredValue, upper: StoredValue, isClosed: Bool)? {
        guard let low = lower.term(context).storedValue, let high = upper.term(context).storedValue else { return nil }
        return (low, high, true)
    }
}

extension PredicateExpressions.ClosedRange: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (low, high) = (try lower.checkedValue(bindings), try upper.checkedValue(bindings))
        guard low <= high else { throw PredicateFailure.invertedRange }
        return low...high
    }
    var operandsCanFail: Bool { true }
}

/// A range spelled in the predicate.
private protocol RangeExpressionNode {
    func bounds(_ context: any LoweringContext) -> (lower: StoredValue, upper: StoredValue, isClosed: Bool)?
}

/// A captured range.
private protocol StoredRange {
    var storedBounds: (lower: StoredValue, upper: StoredValue, isClosed: Bool)? { get }
}

extension Range: StoredRange {
    fileprivate var storedBounds: (lower: StoredValue, upper: StoredValue, isClosed: Bool)? {
        guard let lower = lowerBound as? any FieldValue, let upper = upperBound as? any FieldValue else { return nil }
        return (lower.storedValue, upper.storedValue, false)
    }
}

extension ClosedRange: StoredRange {
    fileprivate var storedBounds: (lower: StoredValue, upper: StoredValue, isClosed: Bool)? {
        guard let lower = lowerBound as? any FieldValue, let upper = upperBound as? any FieldValue else { return nil }
        return (lower.storedValue, upper.storedValue, true)
    }
}
