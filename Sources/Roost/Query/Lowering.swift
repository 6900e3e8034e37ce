// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// What the nodes of a predicate are lowered against: the entity's fields, whatever its Swift type.
protocol LoweringContext: AnyObject {
    var binding: EntityBinding { get }
    var root: PredicateExpressions.VariableID { get }
    /// A test of the decoded object, for what has no better form.
    func objectTest<E: PredicateExpression<Bool>>(_ expression: E) -> Filter.ObjectTest
}

extension LoweringContext {
    func position(of path: AnyKeyPath) -> Int? { binding.position(of: path) }
    func isOrdered(_ position: Int) -> Bool { binding.isOrderedAsStored[position] }
    func fieldType(_ position: Int) -> FieldType { binding.state.layout.fields[position].type }
    func isRoot(_ id: PredicateExpressions.VariableID) -> Bool { id == root }

    /// The condition that `expression` states; a test on the object where nothing better is known.
    func condition<E: PredicateExpression<Bool>>(_ expression: E) -> Filter {
        switch expression.term(self) {
        case .condition(let filter): return filter
        case .constant(let value as Bool): return .constant(value)
        case .path(let path?):
            if let position = position(of: path), fieldType(position) == .scalar(.bool) {
                return .compare(.init(position: position, operation: .equal, value: .bool(true)))
            }
        default: break
        }
        return .object(objectTest(expression))
    }
}

/// Turns a predicate's public expression tree into a `Filter`.
///
/// Each node type of Foundation that Roost understands conforms to `LowerableExpression`. What has no such form, or names
/// no field, becomes an `ObjectTest` that evaluates just that part on the decoded object.
final class Lowering<T: Entity>: LoweringContext {
    let binding: EntityBinding
    private let variable: PredicateExpressions.Variable<T>
    var root: PredicateExpressions.VariableID { variable.key }

    private init(_ predicate: Predicate<T>, _ binding: EntityBinding) {
        self.binding = binding
        variable = predicate.variable
    }

    static func filter(_ predicate: Predicate<T>, _ binding: EntityBinding) -> Filter {
        Lowering(predicate, binding).condition(predicate.expression)
    }

    func objectTest<E: PredicateExpression<Bool>>(_ expression: E) -> Filter.ObjectTest {
        let (variable, handle) = (variable, binding.state.handle)
        return Filter.ObjectTest(canThrow: expression.canFail) { view in
            let object = try T.decoded(key: view.key, record: view.record, handle: handle)
            do {
                return try expression.checkedValue(PredicateBindings((variable, object)))
            } catch {
                throw StoreError(
                    .predicateFailed,
                    "The predicate cannot be evaluated on \(T.entityName) \(object.id): \(error).",
                    entity: T.entityName, id: "\(object.id)")
            }
        }
    }
}

/// What an expression means, as far as the engine can tell.
enum LoweredTerm {
    /// The object itself, or a path into it that begins at the object.
    case path(AnyKeyPath?)
    /// A value known before the fetch.
    case constant(any FieldValue)
    case null
    case condition(Filter)
    case unknown
}

protocol LowerableExpression: SendableMetatype {
    func lower(_ context: any LoweringContext) -> LoweredTerm
}

// MARK: Terms

extension PredicateExpression {
    func term(_ context: any LoweringContext) -> LoweredTerm {
        let term = LowerableTypes.lower(self, context)
        guard case .unknown = term, let constant, let value = asFieldValue(constant) else { return term }
        return .constant(value)
    }

    /// The value, if it can be had without the object: then it is the same for every object.
    fileprivate var constant: Output? {
        guard self is any CheckedExpression else { return nil }
        return try? checkedValue(PredicateBindings())
    }
}

/// Which types of expression can be lowered. Asking the runtime takes half a microsecond a node, as long as a look-up of
/// an object; there are as many types as there are spellings of predicates in the program.
private enum LowerableTypes {
    private static let known = Mutex<[ObjectIdentifier: (any LowerableExpression.Type)?]>([:])

    static func lower<E: PredicateExpression>(_ expression: E, _ context: any LoweringContext) -> LoweredTerm {
        let identifier = ObjectIdentifier(E.self)
        var lowerable = known.withLock { $0[identifier] }
        if lowerable == nil {
            lowerable = .some(E.self as? any LowerableExpression.Type)
            known.withLock { $0[identifier] = lowerable }
        }
        guard case .some(let type?) = lowerable else { return .unknown }
        func lower<L: LowerableExpression>(as _: L.Type) -> LoweredTerm {
            // The same type under two names.
            withUnsafePointer(to: expression) { UnsafeRawPointer($0).assumingMemoryBound(to: L.self).pointee }
                .lower(context)
        }
        return lower(as: type)
    }
}

/// `value as? any FieldValue`; the commonest types without asking the runtime.
private func asFieldValue<Value>(_ value: Value) -> (any FieldValue)? {
    func cast<T: FieldValue>(_: T.Type) -> T {
        withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: T.self).pointee }
    }
    if Value.self == Int.self { return cast(Int.self) }
    if Value.self == Int64.self { return cast(Int64.self) }
    if Value.self == String.self { return cast(String.self) }
    if Value.self == Double.self { return cast(Double.self) }
    if Value.self == Date.self { return cast(Date.self) }
    return value as? any FieldValue
}

extension LoweredTerm {
    /// The field that is meant.
    func position(_ context: any LoweringContext) -> Int? {
        if case .path(let path?) = self { return context.position(of: path) }
        return nil
    }

    /// A constant as a field would store it; `.null` for nil.
    var storedValue: StoredValue? {
        switch self {
        case .null: .null
        case .constant(let value): value.storedValue
        default: nil
        }
    }
}

private func equalityTerm(_ lhs: LoweredTerm, _ rhs: LoweredTerm, _ context: any LoweringContext) -> Filter? {
    func equality(_ field: LoweredTerm, _ constant: LoweredTerm) -> Filter? {
        // Arrays as a whole are compared on the object.
        guard let value = constant.storedValue, let position = field.position(context),
            context.fieldType(position).scalar != nil
        else { return nil }
        return .equality(position, value)
    }
    return equality(lhs, rhs) ?? equality(rhs, lhs)
}

// MARK: Nodes

extension PredicateExpressions.Variable: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm { context.isRoot(key) ? .path(nil) : .unknown }
}

extension PredicateExpressions.KeyPath: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        guard case .path(let outer) = root.term(context) else { return .unknown }
        guard let outer else { return .path(keyPath) }
        guard let path = outer.appending(path: keyPath) else { return .unknown }
        return .path(path)
    }
}

extension PredicateExpressions.Value: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        // Sequences of values are read by the nodes that take them.
        asFieldValue(value).map { .constant($0) } ?? .unknown
    }
}

extension PredicateExpressions.NilLiteral: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm { .null }
}

extension PredicateExpressions.Equal: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        equalityTerm(lhs.term(context), rhs.term(context), context).map { .condition($0) } ?? .unknown
    }
}

extension PredicateExpressions.NotEqual: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        equalityTerm(lhs.term(context), rhs.term(context), context).map { .condition(.not($0)) } ?? .unknown
    }
}

extension PredicateExpressions.Comparison: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        let (left, right) = (lhs.term(context), rhs.term(context))
        if let position = left.position(context), let value = right.storedValue {
            return comparison(position, value, context, turned: false)
        }
        if let position = right.position(context), let value = left.storedValue {
            return comparison(position, value, context, turned: true)
        }
        return .unknown
    }

    private func comparison(
        _ position: Int, _ value: StoredValue, _ context: any LoweringContext, turned: Bool
    ) -> LoweredTerm {
        guard context.isOrdered(position), context.fieldType(position).scalar != nil else { return .unknown }
        let operation: Filter.Operation
        switch (op, turned) {
        case (.lessThan, false), (.greaterThan, true): operation = .less
        case (.lessThanOrEqual, false), (.greaterThanOrEqual, true): operation = .lessOrEqual
        case (.greaterThan, false), (.lessThan, true): operation = .greater
        case (.greaterThanOrEqual, false), (.lessThanOrEqual, true): operation = .greaterOrEqual
        @unknown default: return .unknown
        }
        return .condition(.comparison(position, operation, value))
    }
}

extension PredicateExpressions.Conjunction: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        .condition(.and([context.condition(lhs), context.condition(rhs)]))
    }
}

extension PredicateExpressions.Disjunction: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        .condition(Filter.union([context.condition(lhs), context.condition(rhs)]))
    }
}

extension PredicateExpressions.Negation: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm { .condition(.not(context.condition(wrapped))) }
}

extension Filter {
    /// A disjunction; tests of one field for equality become one set, which an index or the IDs can serve.
    static func union(_ filters: [Filter]) -> Filter {
        var parts: [Filter] = []
        for filter in filters {
            if case .or(let inner) = filter { parts += inner } else { parts.append(filter) }
        }
        var merged: Set<StoredValue> = []
        var position: Int?
        for part in parts {
            let field: Int
            switch part {
            case .compare(let comparison) where comparison.operation == .equal:
                field = comparison.position
                merged.insert(comparison.value)
            case .isIn(let position, let values):
                field = position
                merged.formUnion(values)
            default: return .or(parts)
            }
            if position != nil && position != field { return .or(parts) }
            position = field
        }
        return position.map { .isIn(position: $0, values: merged) } ?? .or(parts)
    }
}

extension PredicateExpressions.SequenceContains: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        if let position = element.term(context).position(context), context.fieldType(position).scalar != nil,
            let values = sequence.constant.flatMap(storedElements)
        {
            var tests: [Filter] = []
            if values.contains(.null) { tests.append(.isNull(position: position)) }
            let present = values.filter { value in
                if case .double(let number) = value, number.isNaN { return false }
                return value != .null
            }
            let isIn = Filter.isIn(position: position, values: Set(present))
            return .condition(tests.isEmpty ? isIn : .or(tests + [isIn]))
        }
        if let position = sequence.term(context).position(context),
            let element = context.fieldType(position).element, element.scalar != nil,
            let value = element.isOptional || element.scalar != nil ? self.element.term(context).storedValue : nil
        {
            if case .double(let number) = value, number.isNaN { return .condition(.constant(false)) }
            return .condition(.hasElement(position: position, value: value))
        }
        return .unknown
    }
}

/// The values of a captured array or set.
private func storedElements(_ sequence: some Sequence) -> [StoredValue]? {
    var values: [StoredValue] = []
    for element in sequence {
        guard let element = element as? any FieldValue else { return nil }
        values.append(element.storedValue)
    }
    return values
}

extension PredicateExpressions.SequenceStartsWith: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        guard let position = base.term(context).position(context), context.fieldType(position) == .scalar(.string),
            case .constant(let text as String) = prefix.term(context)
        else { return .unknown }
        return .condition(.startsWith(position: position, prefix: .init(text)))
    }
}

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

extension PredicateExpressions.Range: RangeExpressionNode {
    fileprivate func bounds(
        _ context: any LoweringContext
    ) -> (lower: StoredValue, upper: StoredValue, isClosed: Bool)? {
        guard let low = lower.term(context).storedValue, let high = upper.term(context).storedValue else { return nil }
        return (low, high, false)
    }
}

extension PredicateExpressions.ClosedRange: RangeExpressionNode {
    fileprivate func bounds(
        _ context: any LoweringContext
    ) -> (lower: StoredValue, upper: StoredValue, isClosed: Bool)? {
        guard let low = lower.term(context).storedValue, let high = upper.term(context).storedValue else { return nil }
        return (low, high, true)
    }
}
