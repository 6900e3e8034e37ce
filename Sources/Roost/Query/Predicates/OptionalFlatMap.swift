// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.OptionalFlatMap: PredicateNode {
    /// `$0.author?.id` is the field, if `$0.author` is one that is stored as its `id`: both are nil together.
    static func term(_ node: Operand<Self>, _ context: LoweringContext) throws -> LoweredTerm {
        guard let field = try node.wrapped.term(context).field(context) else { return .unknown }
        let inner = try context.unwrapping(field, as: node.variable.copy().key) { try node.transform.term(context) }
        guard case .field(let named) = inner, named.position == field.position else { return .unknown }
        return inner
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (wrapped, transform) = (try node.wrapped.compiled(context), try node.transform.compiled(context))
        let variable = node.variable.copy()
        let traits = wrapped.traits.union(transform.traits)
        func flatMap(_ transform: @escaping (Evaluation) throws -> Output) -> Compiled<Output> {
            Compiled(traits) { evaluation in
                guard let value = try wrapped(evaluation) else { return nil }
                var inner = evaluation
                inner.bindings[variable] = value
                return try transform(inner)
            }
        }
        // The transform gives a Result, or an optional one.
        if RHS.Output.self == Result.self {
            let transform = transform.rebound(to: Result.self)
            return flatMap { try transform($0) }
        }
        guard RHS.Output.self == Output.self else { return try node.foreign(context) }
        let optional = transform.rebound(to: Output.self)
        return flatMap { try optional($0) }
    }
}

/// An optional chain that ends in a condition.
protocol UnwrappedCondition: PredicateNode {
    /// The condition, or `substitute` where there is nil; nil when only the decoded object can answer.
    static func filter(_ node: Operand<Self>, orElse substitute: Bool, _ context: LoweringContext) throws -> Filter?
}

extension PredicateExpressions.OptionalFlatMap: UnwrappedCondition where RHS.Output == Bool {
    static func filter(_ node: Operand<Self>, orElse substitute: Bool, _ context: LoweringContext) throws -> Filter? {
        // One level: what is nested is compiled at each level where it is tried in vain.
        guard !context.isInsideUnwrapping, let field = try node.wrapped.term(context).field(context) else { return nil }
        let filter = try context.unwrapping(field, as: node.variable.copy().key) {
            try node.transform.condition(context)
        }
        if filter.testsObject { return nil }
        if substitute { return .union([.isNull(position: field.position), filter]) }
        return filter.impliesValue(field.position)
            ? filter : .and([.negation(.isNull(position: field.position)), filter])
    }
}

extension Filter {
    fileprivate var testsObject: Bool {
        switch self {
        case .object: true
        case .not(let filter): filter.testsObject
        case .and(let filters), .or(let filters): filters.contains(where: \.testsObject)
        default: false
        }
    }

    /// Whether it only holds where the field is not nil.
    fileprivate func impliesValue(_ position: Int) -> Bool {
        switch self {
        case .constant(let holds): !holds
        case .compare(let comparison): comparison.position == position
        case .isIn(position, _), .startsWith(position, _), .hasElement(position, _): true
        case .and(let filters): filters.contains { $0.impliesValue(position) }
        default: false
        }
    }
}
