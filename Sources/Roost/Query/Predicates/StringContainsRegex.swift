// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.StringContainsRegex: PredicateNode {
    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (subject, regex) = (try node.subject.compiled(context), try node.regex.compiled(context))
        return Compiled(subject.traits.union(regex.traits)) { try subject($0).contains(regex($0)) }
    }
}
