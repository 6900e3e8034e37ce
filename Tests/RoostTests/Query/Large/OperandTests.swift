// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

@Suite struct OperandTests {
    private struct Node {
        let lhs = PredicateExpressions.build_Arg([1, 2, 3])
        let limit = 5
        var computed: PredicateExpressions.Value<[Int]> { PredicateExpressions.build_Arg(lhs.value.map { $0 * limit }) }
        var twice: Int { limit * 2 }
    }

    /// A library may store an operand today and compute it tomorrow.
    @Test func operandsThatAreNotStoredAreCopied() {
        let node = Node()
        withUnsafePointer(to: node) { address in
            let operand = Operand(address)
            #expect(operand.lhs.value == [1, 2, 3])
            #expect(operand.limit == 5)
            #expect(operand.computed.value == [5, 10, 15])
            #expect(operand.twice == 10)
        }
    }
}
