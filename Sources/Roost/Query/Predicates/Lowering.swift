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

    /// Throws `predicateTooLarge`.
    static func filter(_ predicate: Predicate<T>, _ binding: EntityBinding) throws -> Filter {
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

extension PredicateExpression {
    func term(_ context: any LoweringContext) -> LoweredTerm {
        let term = LowerableTypes.lower(self, context)
        guard case .unknown = term, let constant, let value = asFieldValue(constant) else { return term }
        return .constant(value)
    }

    /// The value, if it can be had without the object: then it is the same for every object.
    var constant: Output? {
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
