// SPDX-License-Identifier: Apache-2.0

/// Where each field stands in the records of one layout, from the catalog alone: what index maintenance, predicates, sorts
/// and the tool read records by.
final class RecordLayout: Sendable {
    struct Field: Sendable {
        enum Location: Sendable, Equatable {
            /// The record's key.
            case key
            case fixed(offset: Int, width: Int)
            case variable(index: Int)
        }

        /// Never reused within the entity.
        let number: Int
        let name: String
        let type: FieldType
        let references: String?
        let location: Location
        /// Of a single value, missing or not.
        let scalar: FieldType.Scalar?
    }

    let header: RecordHeader
    /// In record order, `id` first; the position is also the field's null bit.
    let fields: [Field]
    let shape: RecordShape
    /// Bytes of an ID in a key; 0 for text, whose length varies.
    let idKeyWidth: Int

    init(number: UInt16, fields: [(number: Int, name: String, type: FieldType, references: String?)]) {
        header = RecordHeader(layout: number)
        var shape = RecordShape(fieldCount: fields.count)
        var placed: [Field] = []
        for (position, field) in fields.enumerated() {
            let location: Field.Location
            let width = field.type.storedWidth
            if position == 0 && field.type.scalar != .string {
                location = .key
            } else if width > 0 {
                location = .fixed(offset: shape.fixedStart + shape.fixedBytes, width: width)
                shape.fixedBytes += width
            } else {
                location = .variable(index: shape.variableCount)
                shape.variableCount += 1
            }
            placed.append(
                Field(
                    number: field.number, name: field.name, type: field.type, references: field.references,
                    location: location, scalar: field.type.scalar))
        }
        self.shape = shape
        self.fields = placed
        idKeyWidth = placed.first?.scalar?.codec.keyWidth ?? 0
    }

    func position(named name: String) -> Int? { fields.firstIndex { $0.name == name } }
}
