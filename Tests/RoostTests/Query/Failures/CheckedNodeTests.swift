// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

/// Nodes that `#Predicate` does not write on Linux.
@Suite("Nodes that no macro writes do not trap either") struct CheckedNodeTests {
    private let huge = PredicateExpressions.build_Arithmetic(
        lhs: PredicateExpressions.build_Arg(Int.max), rhs: PredicateExpressions.build_Arg(1), op: .add)
    private let small = PredicateExpressions.build_Arithmetic(
        lhs: PredicateExpressions.build_Arg(4), rhs: PredicateExpressions.build_Arg(1), op: .add)
    private let none = PredicateBindings()

    @Test func typeChecks() throws {
        #expect(try PredicateExpressions.TypeCheck<_, Int>(small).checkedValue(none))
        #expect(try !PredicateExpressions.TypeCheck<_, String>(small).checkedValue(none))
        #expect(throws: PredicateFailure.overflow) {
            try PredicateExpressions.TypeCheck<_, Int>(huge).checkedValue(none)
        }
    }

    @Test func conditionalCasts() throws {
        #expect(try PredicateExpressions.ConditionalCast<_, Int>(small).checkedValue(none) == 5)
        #expect(try PredicateExpressions.ConditionalCast<_, String>(small).checkedValue(none) == nil)
        #expect(throws: PredicateFailure.overflow) {
            try PredicateExpressions.ConditionalCast<_, Int>(huge).checkedValue(none)
        }
    }

    @Test func forcedCasts() throws {
        #expect(try PredicateExpressions.ForceCast<_, Int>(small).checkedValue(none) == 5)
        #expect(throws: PredicateFailure.failedCast) {
            try PredicateExpressions.ForceCast<_, String>(small).checkedValue(none)
        }
        #expect(throws: PredicateFailure.overflow) {
            try PredicateExpressions.ForceCast<_, Int>(huge).checkedValue(none)
        }
    }

    @Test func expressions() throws {
        let successor = #Expression<Int, Int> { $0 + 1 }
        func after<Input: PredicateExpression<Int>>(_ input: Input) throws -> Int {
            try PredicateExpressions.build_evaluate(PredicateExpressions.build_Arg(successor), input).checkedValue(none)
        }
        #expect(try after(small) == 6)
        #expect(throws: PredicateFailure.overflow) { try after(huge) }
        #expect(throws: PredicateFailure.overflow) { try after(PredicateExpressions.build_Arg(Int.max)) }
    }
}
