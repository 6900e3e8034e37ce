// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.SequenceContains: LowerableExpression {
    func lower(_ context: any LoweringContext) -> LoweredTerm {
        if let position = element.term(context).position(context), context.fieldType(position).scalar != nil,
            let values = sequence.constant.flatMap(storedElements)
        {
            var tests: [Filter] = []
            if values.contains(.null) { tests.append(.isNull(position: position)) }
            let present = values.filter { value in
                if case .double(let number) = value, number.isNaN { return false }
                return value != .null
            }
            let isIn = Filter.isIn(position: position, values: Set(present))
            return .condition(tests.isEmpty ? isIn : .or(tests + [isIn]))
        }
        if let position = sequence.term(context).position(context),
            let element = context.fieldType(position).element, element.scalar != nil,
            let value = element.isOptional || element.scalar != nil ? self.element.term(context).storedValue : nil
        {
            if case .double(let number) = value, number.isNaN { return .condition(.constant(false)) }
            return .condition(.hasElement(position: position, value: value))
        }
        return .unknown
    }
}

extension PredicateExpressions.SequenceContains: CheckedExpression {
    func checked(_ bindings: PredicateBindings) throws -> Bool {
        try sequence.checkedValue(bindings).contains(element.checkedValue(bindings))
    }
    var operandsCanFail: Bool { sequence.canFail || element.canFail }
}

/// The values of a captured array or set.
private func storedElements(_ sequence: some Sequence) -> [StoredValue]? {
    var values: [StoredValue] = []
    for element in sequence {
        guard let element = element as? any FieldValue else { return nil }
        values.append(element.storedValue)
    }
    return values
}
