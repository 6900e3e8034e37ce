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

    private func value<E: PredicateExpression>(of expression: E) throws -> E.Output {
        try withTemporaryStore([Reading.self]) { store in
            let context = LoweringContext(Reading.self, try store.binding(of: Reading.self), .init())
            return try withUnsafePointer(to: expression) { try Operand($0).compiled(context)(.withoutObject) }
        }
    }

    @Test func typeChecks() throws {
        #expect(try value(of: PredicateExpressions.TypeCheck<_, Int>(small)))
        #expect(try !value(of: PredicateExpressions.TypeCheck<_, String>(small)))
        #expect(throws: PredicateFailure.overflow) {
            try value(of: PredicateExpressions.TypeCheck<_, Int>(huge))
        }
    }

    @Test func conditionalCasts() throws {
        #expect(try value(of: PredicateExpressions.ConditionalCast<_, Int>(small)) == 5)
        #expect(try value(of: PredicateExpressions.ConditionalCast<_, String>(small)) == nil)
        #expect(throws: PredicateFailure.overflow) {
            try value(of: PredicateExpressions.ConditionalCast<_, Int>(huge))
        }
    }

    @Test func forcedCasts() throws {
        #expect(try value(of: PredicateExpressions.ForceCast<_, Int>(small)) == 5)
        #expect(throws: PredicateFailure.failedCast) {
            try value(of: PredicateExpressions.ForceCast<_, String>(small))
        }
        #expect(throws: PredicateFailure.overflow) {
            try value(of: PredicateExpressions.ForceCast<_, Int>(huge))
        }
    }

    @Test func expressions() throws {
        let successor = #Expression<Int, Int> { $0 + 1 }
        func after<Input: PredicateExpression<Int>>(_ input: Input) throws -> Int {
            try value(of: PredicateExpressions.build_evaluate(PredicateExpressions.build_Arg(successor), input))
        }
        #expect(try after(small) == 6)
        #expect(throws: PredicateFailure.overflow) { try after(huge) }
        #expect(throws: PredicateFailure.overflow) { try after(PredicateExpressions.build_Arg(Int.max)) }
    }
}
