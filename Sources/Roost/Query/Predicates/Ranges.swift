// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Range: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (lower, upper) = (try node.lower.compiled(context), try node.upper.compiled(context))
        return Compiled(lower.traits.union(upper.traits).union(.canFail)) {
            let (low, high) = (try lower($0), try upper($0))
            guard low <= high else { throw PredicateFailure.invertedRange }
            return low..<high
        }
    }
}

extension PredicateExpressions.ClosedRange: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (lower, upper) = (try node.lower.compiled(context), try node.upper.compiled(context))
        return Compiled(lower.traits.union(upper.traits).union(.canFail)) {
            let (low, high) = (try lower($0), try upper($0))
            guard low <= high else { throw PredicateFailure.invertedRange }
            return low...high
        }
    }
}

extension PredicateExpressions.RangeExpressionContains: ConditionNode {
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter? {
        guard let field = try node.element.term(context).field(context), field.isOrderedAsStored,
            context.fieldType(field.position).scalar != nil, let bounds = try bounds(node.range, context)
        else { return nil }
        let position = field.position
        // Nothing lies between a number and NaN, whose key would stand above all.
        if bounds.lower.isNaN || bounds.upper.isNaN { return .constant(false) }
        return .and([
            .compare(.init(position: position, operation: .greaterOrEqual, value: bounds.lower)),
            .compare(.init(position: position, operation: bounds.isClosed ? .lessOrEqual : .less, value: bounds.upper)),
        ])
    }

    private static func bounds(
        _ range: Operand<RangeExpression>, _ context: LoweringContext
    ) throws -> StoredBounds? {
        guard let type = RangeExpression.self as? any SpelledRange.Type else {
            return (try context.constant(range) as? any CapturedRange)?.storedBounds
        }
        func open<Spelled: SpelledRange>(_: Spelled.Type) throws -> StoredBounds? {
            try range.node(as: Spelled.self).flatMap { try Spelled.bounds($0, context) }
        }
        return try open(type)
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (range, element) = (try node.range.compiled(context), try node.element.compiled(context))
        return Compiled(range.traits.union(element.traits)) {
            let bounds: RangeExpression.Output
            do {
                bounds = try range($0)
            } catch let failure as PredicateFailure where failure == .invertedRange {
                // Nothing lies in it.
                return false
            }
            return bounds.contains(try element($0))
        }
    }
}

/// A range as fields store its bounds.
private struct StoredBounds {
    let lower: StoredValue
    let upper: StoredValue
    let isClosed: Bool
}

/// A range spelled in the predicate.
private protocol SpelledRange: PredicateNode {
    static func bounds(_ node: Operand<Self>, _ context: LoweringContext) throws -> StoredBounds?
}

/// A range known before the fetch.
private protocol CapturedRange {
    var storedBounds: StoredBounds? { get }
}

extension PredicateExpressions.Range: SpelledRange {
    fileprivate static func bounds(_ node: Operand<Self>, _ context: LoweringContext) throws -> StoredBounds? {
        guard let lower = try context.storedValue(node.lower, node.lower.term(context)),
            let upper = try context.storedValue(node.upper, node.upper.term(context))
        else { return nil }
        return StoredBounds(lower: lower, upper: upper, isClosed: false)
    }
}

extension PredicateExpressions.ClosedRange: SpelledRange {
    fileprivate static func bounds(_ node: Operand<Self>, _ context: LoweringContext) throws -> StoredBounds? {
        guard let lower = try context.storedValue(node.lower, node.lower.term(context)),
            let upper = try context.storedValue(node.upper, node.upper.term(context))
        else { return nil }
        return StoredBounds(lower: lower, upper: upper, isClosed: true)
    }
}

extension Range: CapturedRange {
    fileprivate var storedBounds: StoredBounds? {
        guard let lower = lowerBound as? any FieldValue, let upper = upperBound as? any FieldValue else { return nil }
        return StoredBounds(lower: lower.storedValue, upper: upper.storedValue, isClosed: false)
    }
}

extension ClosedRange: CapturedRange {
    fileprivate var storedBounds: StoredBounds? {
        guard let lower = lowerBound as? any FieldValue, let upper = upperBound as? any FieldValue else { return nil }
        return StoredBounds(lower: lower.storedValue, upper: upper.storedValue, isClosed: true)
    }
}

extension PredicateFailure {
    static let invertedRange = PredicateFailure(description: "a range ends before it begins")
}
