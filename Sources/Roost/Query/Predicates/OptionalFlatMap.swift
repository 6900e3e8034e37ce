// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.OptionalFlatMap: PredicateNode {
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
