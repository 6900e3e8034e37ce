// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Value: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        // Sequences of values are read by the nodes that take them.
        asFieldValue(value).map { .constant($0) } ?? .unknown
    }
}

extension PredicateExpressions.Value: CheckedExpression {
    func checked(_: PredicateBindings) throws -> Output { value }
    var operandsCanFail: Bool { false }
}

extension PredicateExpressions.NilLiteral: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm { .null }
}

extension PredicateExpressions.NilLiteral: CheckedExpression {
    func checked(_: PredicateBindings) throws -> Output { nil }
    var operandsCanFail: Bool { false }
}

/// `value as? any FieldValue`; the commonest types without asking the runtime.
func asFieldValue<Value>(_ value: Value) -> (any FieldValue)? {
    func cast<T: FieldValue>(_: T.Type) -> T {
        withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: T.self).pointee }
    }
    if Value.self == Int.self { return cast(Int.self) }
    if Value.self == Int64.self { return cast(Int64.self) }
    if Value.self == String.self { return cast(String.self) }
    if Value.self == Double.self { return cast(Double.self) }
    if Value.self == Date.self { return cast(Date.self) }
    return value as? any FieldValue
}
