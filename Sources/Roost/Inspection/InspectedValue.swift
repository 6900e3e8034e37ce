// SPDX-License-Identifier: Apache-2.0

/// A field's value to be shown, text in its own spelling.
package enum InspectedValue: Sendable {
    case null
    case scalar(InspectedScalar)
    case list([InspectedValue])
}

/// A single value and its spellings.
package struct InspectedScalar: Sendable {
    let value: any ScalarCodec

    /// As a condition would spell it.
    package var text: String { value.printed }
    /// As `JSONEncoder` writes the field; numbers that are not finite, and dates, as `text`.
    package var json: ScalarJSON { value.printedJSON }
    package var isNumber: Bool { type(of: value).isNumber }
}

extension InspectedValue {
    /// Reads what a field of `type` stores; `type` is not optional.
    init(_ bytes: UnsafeRawBufferPointer, _ type: FieldType) throws(RecordFailure) {
        if let scalar = type.scalar {
            self = .scalar(InspectedScalar(value: try scalar.codec.load(bytes)))
            return
        }
        var elements: [InspectedValue] = []
        try RecordView.forEachElement(bytes, type) { (element, type) throws(RecordFailure) in
            guard let element else {
                elements.append(.null)
                return
            }
            elements.append(try InspectedValue(element, type))
        }
        self = .list(elements)
    }
}

extension RecordView {
    /// The field's value; what a typed fetch would refuse is refused here, too.
    func inspected(_ position: Int) throws(RecordFailure) -> InspectedValue {
        let field = layout.fields[position]
        if isNull(position) {
            guard field.type.isOptional else { throw .unexpectedNull }
            return .null
        }
        let bytes = try bytes(position)
        if case .key = field.location, let scalar = field.scalar {
            return .scalar(InspectedScalar(value: try scalar.codec.read(key: bytes)))
        }
        return try InspectedValue(bytes, field.type.unwrapped)
    }

    /// All fields, in the layout's order.
    func inspected(_ entity: StoredEntity) throws -> [InspectedValue] {
        var row: [InspectedValue] = []
        row.reserveCapacity(layout.fields.count)
        for position in layout.fields.indices {
            try entity.namingDamage(key: key, record: record, field: layout.fields[position].name) {
                row.append(try inspected(position))
            }
        }
        return row
    }
}
