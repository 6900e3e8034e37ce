// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Arithmetic: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let (lhs, rhs) = (try node.lhs.compiled(context), try node.rhs.compiled(context))
        func integers<I: FixedWidthInteger>(_: I.Type) -> Compiled<Output>? {
            checkedArithmetic(lhs.rebound(to: I.self), rhs.rebound(to: I.self), node.op)?.rebound(to: Output.self)
        }
        if Output.self == Int.self { return try integers(Int.self) ?? node.foreign(context) }
        if let type = Output.self as? any FixedWidthInteger.Type { return try integers(type) ?? node.foreign(context) }
        let traits = lhs.traits.union(rhs.traits)
        switch node.op {
        case .add: return Compiled(traits) { try lhs($0) + rhs($0) }
        case .subtract: return Compiled(traits) { try lhs($0) - rhs($0) }
        case .multiply: return Compiled(traits) { try lhs($0) * rhs($0) }
        @unknown default: return try node.foreign(context)
        }
    }
}

/// Integers, whose operators would trap.
@inline(__always)
private func checkedArithmetic<Integer: FixedWidthInteger>(
    _ lhs: Compiled<Integer>, _ rhs: Compiled<Integer>, _ op: PredicateExpressions.ArithmeticOperator
) -> Compiled<Integer>? {
    let traits = lhs.traits.union(rhs.traits).union(.canFail)
    switch op {
    case .add: return Compiled(traits) { try checked(try lhs($0).addingReportingOverflow(rhs($0))) }
    case .subtract: return Compiled(traits) { try checked(try lhs($0).subtractingReportingOverflow(rhs($0))) }
    case .multiply: return Compiled(traits) { try checked(try lhs($0).multipliedReportingOverflow(by: rhs($0))) }
    @unknown default: return nil
    }
}

@inline(__always)
private func checked<Integer>(_ result: (partialValue: Integer, overflow: Bool)) throws -> Integer {
    guard !result.overflow else { throw PredicateFailure.overflow }
    return result.partialValue
}

extension PredicateExpressions.UnaryMinus: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let wrapped = try node.wrapped.compiled(context)
        func integers<I: FixedWidthInteger>(_: I.Type) -> Compiled<Output> {
            let wrapped = wrapped.rebound(to: I.self)
            return Compiled<I>(wrapped.traits.union(.canFail)) {
                try checked((0 as I).subtractingReportingOverflow(try wrapped($0)))
            }.rebound(to: Output.self)
        }
        if let type = Output.self as? any FixedWidthInteger.Type { return integers(type) }
        return Compiled(wrapped.traits) { try -wrapped($0) }
    }
}

extension PredicateFailure {
    static let overflow = PredicateFailure(description: "an arithmetic operation overflows")
}
