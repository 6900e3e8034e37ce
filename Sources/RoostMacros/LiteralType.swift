// SPDX-License-Identifier: Apache-2.0

import SwiftSyntax

/// The type Swift gives a property that has a literal for its initial value and no annotation.
///
/// A macro sees source text only, so this works for the literals whose default type is the same everywhere.
enum LiteralType {
    static func name(of value: ExprSyntax) -> String? {
        if value.is(IntegerLiteralExprSyntax.self) { return "Int" }
        if value.is(FloatLiteralExprSyntax.self) { return "Double" }
        if value.is(StringLiteralExprSyntax.self) { return "String" }
        if value.is(BooleanLiteralExprSyntax.self) { return "Bool" }
        if let signed = value.as(PrefixOperatorExprSyntax.self), ["-", "+"].contains(signed.operator.text) {
            let type = name(of: signed.expression)
            return type == "Int" || type == "Double" ? type : nil
        }
        return nil
    }
}
