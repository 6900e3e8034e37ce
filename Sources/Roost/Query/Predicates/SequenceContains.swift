// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.SequenceContains: ConditionNode {
    static func filter(_ node: Operand<Self>, _ context: LoweringContext) throws -> Filter? {
        let element = try node.element.term(context)
        if let position = element.field(context)?.position {
            guard context.fieldType(position).scalar != nil, let sequence = try context.constant(node.sequence),
                let type = RHS.Output.self as? any FieldValue.Type
            else { return nil }
            return oneOf(position, storedValues(sequence, type))
        }
        if let position = try node.sequence.term(context).field(context)?.position,
            let type = context.fieldType(position).element, type.scalar != nil,
            let value = try context.storedValue(node.element, element)
        {
            if value.isNaN { return .constant(false) }
            return .hasElement(position: position, value: value)
        }
        return nil
    }

    private static func oneOf(_ position: Int, _ values: Set<StoredValue>) -> Filter {
        guard values.contains(.null) else { return .isIn(position: position, values: values) }
        return .or([.isNull(position: position), .isIn(position: position, values: values.subtracting([.null]))])
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Bool> {
        let (sequence, element) = (try node.sequence.compiled(context), try node.element.compiled(context))
        return Compiled(sequence.traits.union(element.traits)) { try sequence($0).contains(element($0)) }
    }
}

/// The values of a captured array or set, as fields store them; NaN, which equals nothing, is left out.
private func storedValues<S: Sequence, Value: FieldValue>(_ sequence: S, _: Value.Type) -> Set<StoredValue> {
    precondition(S.Element.self == Value.self, "internal inconsistency: a sequence of another type")
    var values = Set<StoredValue>(minimumCapacity: sequence.underestimatedCount)
    for element in sequence {
        // The same type under two names.
        let value = unsafeBitCast(element, to: Value.self).storedValue
        if value.isNaN { continue }
        values.insert(value)
    }
    return values
}
