// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A node of a predicate's expression tree that Roost understands. A node that does not conform is left to Foundation.
///
/// Nodes are found by casting their types, once for each node and fetch.
protocol PredicateNode: PredicateExpression, SendableMetatype {
    /// What it means as an operand of a condition, as far as the planner can use it.
    static func term(_ node: Operand<Self>, _ context: LoweringContext) throws -> LoweredTerm

    /// A closure that evaluates it on an object without Foundation's traps: what would trap throws `PredicateFailure`.
    ///
    /// It captures what its operands were compiled to, never the node.
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output>
}

extension PredicateNode {
    static func term(_ node: Operand<Self>, _ context: LoweringContext) throws -> LoweredTerm { .unknown }
}

/// A node that may say something about fields which is tested on records.
protocol ConditionNode: PredicateNode where Output == Bool {
    /// Nil when only the decoded object can answer.
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter?

    /// Adds the conditions that `junction` joins here. Only what is itself such a junction implements it.
    static func collect(
        _ node: Operand<Self>, _ junction: Filter.Junction, into parts: inout [Filter], _ context: LoweringContext
    ) throws
}

extension ConditionNode {
    static func collect(
        _ node: Operand<Self>, _ junction: Filter.Junction, into parts: inout [Filter], _ context: LoweringContext
    ) throws {
        parts.append(try node.condition(context))
    }
}

/// What an operand means, as far as the planner can tell.
enum LoweredTerm {
    /// The object itself, or a path into it that begins at the object.
    case path(AnyKeyPath?)
    /// A field's value, or what it is stored as; nil where the field is.
    case field(NamedField)
    /// A field's value, or this one where the field is nil.
    case coalesced(NamedField, StoredValue)
    /// A value known before the fetch.
    case constant(any FieldValue)
    case null
    case unknown

    /// The field that is meant.
    func field(_ context: LoweringContext) -> NamedField? {
        switch self {
        case .path(let path?): context.field(of: path)
        case .field(let field): field
        default: nil
        }
    }

    /// The field that is meant, or takes part with another value for nil.
    func comparedField(_ context: LoweringContext) -> ComparedField? {
        if case .coalesced(let field, let substitute) = self { return ComparedField(field, substitute) }
        return field(context).map { ComparedField($0, nil) }
    }
}

/// A field of a single value, as one side of a comparison.
struct ComparedField {
    let field: NamedField
    var position: Int { field.position }
    /// What stands for nil, where nil is not left as it is.
    private let substitute: StoredValue?

    init(_ field: NamedField, _ substitute: StoredValue?) {
        self.field = field
        self.substitute = substitute
    }

    /// That `holds` of the field's value. `filter` says so where there is one, and is false where there is none.
    func filter(_ filter: Filter, substituteIf holds: (StoredValue) -> Bool) -> Filter {
        guard let substitute, holds(substitute) else { return filter }
        return .union([.isNull(position: position), filter])
    }
}
