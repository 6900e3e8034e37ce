// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.ExpressionEvaluate: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        // Copied: a key path into a type with a pack traps in Swift 6.3's runtime.
        let whole = node.copy()
        let expression = try compiledCopy(of: whole.expression, context)
        // `Compiled` of each input's type: a closure cannot capture a pack.
        var compiledInputs: [Any] = []
        repeat compiledInputs.append(try compiledCopy(of: each whole.input, context))
        let inputs = compiledInputs
        let constant = try withUnsafePointer(to: whole.expression) { try context.constant(Operand($0)) }
        let constantBody = try constant.map { try body(of: $0.expression, context) }
        return Compiled([.canFail, .readsObject]) { evaluation in
            let inner = try constant ?? expression(evaluation)
            let values = try inner.bindings(to: inputs, evaluation)
            let body = try constantBody ?? body(of: inner.expression, context.another())
            return try body(Evaluation(object: nil, bindings: values))
        }
    }
}

extension Expression {
    /// Its variables, bound to what `inputs` yield: the `Compiled` of each one's type.
    fileprivate func bindings(to inputs: [Any], _ evaluation: Evaluation) throws -> PredicateBindings {
        var bindings = PredicateBindings()
        var index = 0
        func bind<Value>(_ variable: PredicateExpressions.Variable<Value>) throws {
            bindings[variable] = try (inputs[index] as? Compiled<Value>)?(evaluation)
            index += 1
        }
        repeat try bind(each variable)
        return bindings
    }
}

private func compiledCopy<E: PredicateExpression>(
    of expression: E, _ context: LoweringContext
) throws -> Compiled<E.Output> {
    try withUnsafePointer(to: expression) { try Operand($0).compiled(context) }
}

private func body<Output>(
    of expression: any StandardPredicateExpression<Output>, _ context: LoweringContext
) throws -> Compiled<Output> {
    func open<E: PredicateExpression<Output>>(_ expression: E) throws -> Compiled<Output> {
        try compiledCopy(of: expression, context)
    }
    return try open(expression)
}
