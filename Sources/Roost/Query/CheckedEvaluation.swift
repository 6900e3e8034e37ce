// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Evaluation of a predicate's part on an object without Foundation's traps: arithmetic that overflows, a division by zero
/// and an index out of bounds throw instead.
///
/// Every node whose own operation can trap, or which stands above such nodes, evaluates its operands through
/// `checkedValue`; a node that is not known here is left to Foundation.
protocol CheckedExpression: PredicateExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output
    /// Whether it can fail on some object, by itself or below.
    var operandsCanFail: Bool { get }
}

extension PredicateExpression {
    func checkedValue(_ bindings: PredicateBindings) throws -> Output {
        if let checked = self as? any CheckedExpression, let value = try checked.checked(bindings) as? Output {
            return value
        }
        return try evaluate(bindings)
    }

    /// Whether evaluation can fail on some object. True for nodes that are not known.
    var canFail: Bool { (self as? any CheckedExpression)?.operandsCanFail ?? true }
}

// MARK: Leaves

extension PredicateExpressions.Variable: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output { try evaluate(bindings) }
    var operandsCanFail: Bool { false }
}

extension PredicateExpressions.Value: CheckedExpression {
    func checked(_: PredicateBindings) throws -> Output { value }
    var operandsCanFail: Bool { false }
}

extension PredicateExpressions.NilLiteral: CheckedExpression {
    func checked(_: PredicateBindings) throws -> Output { nil }
    var operandsCanFail: Bool { false }
}

extension PredicateExpressions.KeyPath: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        try root.checkedValue(bindings)[keyPath: keyPath]
    }
    var operandsCanFail: Bool { root.canFail }
}

// MARK: Logic and comparison

extension PredicateExpressions.Conjunction: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try lhs.checkedValue(bindings) && rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}

extension PredicateExpressions.Disjunction: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try lhs.checkedValue(bindings) || rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}

extension PredicateExpressions.Negation: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool { try !wrapped.checkedValue(bindings) }
    var operandsCanFail: Bool { wrapped.canFail }
}

extension PredicateExpressions.Equal: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try lhs.checkedValue(bindings) == rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}

extension PredicateExpressions.NotEqual: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try lhs.checkedValue(bindings) != rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}

extension PredicateExpressions.Comparison: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        let (left, right) = (try lhs.checkedValue(bindings), try rhs.checkedValue(bindings))
        if let left = left as? String, let right = right as? String { return compare(text: left, right) }
        switch op {
        case .lessThan: return left < right
        case .lessThanOrEqual: return left <= right
        case .greaterThan: return left > right
        case .greaterThanOrEqual: return left >= right
        @unknown default: return try evaluate(bindings)
        }
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }

    /// Text has one order everywhere in the store: see `NormalizedText`.
    private func compare(text left: String, _ right: String) -> Bool {
        let order = StoredOrder.of(
            .text(NormalizedText.bytes(of: left)), .text(NormalizedText.bytes(of: right)))
        switch op {
        case .lessThan: return order == .less
        case .lessThanOrEqual: return order != .greater
        case .greaterThan: return order == .greater
        case .greaterThanOrEqual: return order != .less
        @unknown default: return false
        }
    }
}

// MARK: Optionals and conditions

extension PredicateExpressions.ForcedUnwrap: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        guard let value = try inner.checkedValue(bindings) else { throw PredicateFailure.forcedNil }
        return value
    }
    var operandsCanFail: Bool { true }
}

extension PredicateExpressions.NilCoalesce: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        try lhs.checkedValue(bindings) ?? rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}

extension PredicateExpressions.OptionalFlatMap: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        guard let value = try wrapped.checkedValue(bindings) else { return nil }
        var inner = bindings
        inner[variable] = value
        // The transform gives a Result, or an optional one.
        let transformed = try transform.checkedValue(inner)
        if let result = transformed as? Result { return result }
        return transformed as? Output ?? nil
    }
    var operandsCanFail: Bool { wrapped.canFail || transform.canFail }
}

extension PredicateExpressions.Conditional: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        try test.checkedValue(bindings) ? trueBranch.checkedValue(bindings) : falseBranch.checkedValue(bindings)
    }
    var operandsCanFail: Bool { test.canFail || trueBranch.canFail || falseBranch.canFail }
}

// MARK: Arithmetic

extension PredicateExpressions.Arithmetic: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (left, right) = (try lhs.checkedValue(bindings), try rhs.checkedValue(bindings))
        if let left = left as? any FixedWidthInteger, let result = try integers(left, right) as? Output {
            return result
        }
        switch op {
        case .add: return left + right
        case .subtract: return left - right
        case .multiply: return left * right
        @unknown default: return try evaluate(bindings)
        }
    }
    var operandsCanFail: Bool { true }

    private func integers<Integer: FixedWidthInteger>(_ left: Integer, _ right: Any) throws -> Integer {
        guard let right = right as? Integer else { throw PredicateFailure.failedCast }
        let (value, overflow) =
            switch op {
            case .add: left.addingReportingOverflow(right)
            case .subtract: left.subtractingReportingOverflow(right)
            case .multiply: left.multipliedReportingOverflow(by: right)
            @unknown default: (left, true)
            }
        guard !overflow else { throw PredicateFailure.overflow }
        return value
    }
}

extension PredicateExpressions.UnaryMinus: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let value = try wrapped.checkedValue(bindings)
        if let integer = value as? any FixedWidthInteger, let result = try Self.negated(integer) as? Output {
            return result
        }
        return -value
    }
    var operandsCanFail: Bool { true }

    private static func negated<Integer: FixedWidthInteger>(_ value: Integer) throws -> Integer {
        let (result, overflow) = (0 as Integer).subtractingReportingOverflow(value)
        guard !overflow else { throw PredicateFailure.overflow }
        return result
    }
}

extension PredicateExpressions.IntDivision: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (left, right) = (try lhs.checkedValue(bindings), try rhs.checkedValue(bindings))
        guard right != 0 else { throw PredicateFailure.divisionByZero }
        guard let (value, overflow) = Self.divided(left, right) else { return left / right }
        guard !overflow, let result = value as? Output else { throw PredicateFailure.overflow }
        return result
    }
    var operandsCanFail: Bool { true }

    private static func divided(_ left: Any, _ right: Any) -> (Any, Bool)? {
        func divide<Integer: FixedWidthInteger>(_ left: Integer) -> (Any, Bool)? {
            guard let right = right as? Integer else { return nil }
            let (value, overflow) = left.dividedReportingOverflow(by: right)
            return (value, overflow)
        }
        guard let left = left as? any FixedWidthInteger else { return nil }
        return divide(left)
    }
}

extension PredicateExpressions.IntRemainder: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (left, right) = (try lhs.checkedValue(bindings), try rhs.checkedValue(bindings))
        guard right != 0 else { throw PredicateFailure.divisionByZero }
        // The remainder of any number by -1 is 0, though the division may overflow.
        return left.magnitude == right.magnitude || right.magnitude == 1 ? 0 : left % right
    }
    var operandsCanFail: Bool { true }
}

extension PredicateExpressions.FloatDivision: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        try lhs.checkedValue(bindings) / rhs.checkedValue(bindings)
    }
    var operandsCanFail: Bool { lhs.canFail || rhs.canFail }
}

// MARK: Sequences and ranges

extension PredicateExpressions.SequenceContains: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try sequence.checkedValue(bindings).contains(element.checkedValue(bindings))
    }
    var operandsCanFail: Bool { sequence.canFail || element.canFail }
}

extension PredicateExpressions.SequenceStartsWith: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try base.checkedValue(bindings).starts(with: prefix.checkedValue(bindings))
    }
    var operandsCanFail: Bool { base.canFail || prefix.canFail }
}

extension PredicateExpressions.CollectionContainsCollection: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try base.checkedValue(bindings).contains(other.checkedValue(bindings))
    }
    var operandsCanFail: Bool { base.canFail || other.canFail }
}

extension PredicateExpressions.SequenceContainsWhere: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        var inner = bindings
        return try sequence.checkedValue(bindings).contains { element in
            inner[variable] = element
            return try test.checkedValue(inner)
        }
    }
    var operandsCanFail: Bool { sequence.canFail || test.canFail }
}

extension PredicateExpressions.SequenceAllSatisfy: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        var inner = bindings
        return try sequence.checkedValue(bindings).allSatisfy { element in
            inner[variable] = element
            return try test.checkedValue(inner)
        }
    }
    var operandsCanFail: Bool { sequence.canFail || test.canFail }
}

extension PredicateExpressions.Filter: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> [Element] {
        var inner = bindings
        return try sequence.checkedValue(bindings).filter { element in
            inner[variable] = element
            return try filter.checkedValue(inner)
        }
    }
    var operandsCanFail: Bool { sequence.canFail || filter.canFail }
}

extension PredicateExpressions.CollectionIndexSubscript: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (collection, position) = (try wrapped.checkedValue(bindings), try index.checkedValue(bindings))
        guard collection.indices.contains(where: { $0 == position }) else { throw PredicateFailure.indexOutOfBounds }
        return collection[position]
    }
    var operandsCanFail: Bool { true }
}

extension PredicateExpressions.Range: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (low, high) = (try lower.checkedValue(bindings), try upper.checkedValue(bindings))
        guard low <= high else { throw PredicateFailure.invertedRange }
        return low..<high
    }
    var operandsCanFail: Bool { true }
}

extension PredicateExpressions.ClosedRange: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Output {
        let (low, high) = (try lower.checkedValue(bindings), try upper.checkedValue(bindings))
        guard low <= high else { throw PredicateFailure.invertedRange }
        return low...high
    }
    var operandsCanFail: Bool { true }
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
