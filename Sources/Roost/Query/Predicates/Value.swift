// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.Value: PredicateNode {
    static func term(_ node: Operand<Self>, _ context: LoweringContext) -> LoweredTerm {
        // Sequences of values are read by the nodes that take them.
        asFieldValue(node.value).map { .constant($0) } ?? .unknown
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) -> Compiled<Output> {
        let value = node.value
        return Compiled([]) { _ in value }
    }
}

extension PredicateExpressions.NilLiteral: PredicateNode {
    static func term(_ node: Operand<Self>, _ context: LoweringContext) -> LoweredTerm { .null }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) -> Compiled<Output> {
        Compiled([]) { _ in nil }
    }
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
