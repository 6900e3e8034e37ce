// SPDX-License-Identifier: Apache-2.0

extension KeyBytes {
    /// A field's value as it sorts: nil first, turned around where it descends.
    mutating func append(sortKeyOf position: Int, _ view: RecordView, descending: Bool) throws(RecordFailure) {
        let start = count
        let field = view.layout.fields[position]
        if case .key = field.location {
            append(view.key)
        } else if let scalar = field.type.scalar {
            let isNull = view.isNull(position)
            if field.type.isOptional { append(isNull ? UInt8(0) : UInt8(1)) } else if isNull { throw .unexpectedNull }
            if !isNull {
                let bytes = try view.bytes(position)
                // What cannot be decoded has no place: the rows before it would not be a beginning of the order.
                try scalar.validate(stored: bytes)
                append(stored: bytes, scalar, limit: Int.max)
            }
        }
        if descending { invert(from: start) }
    }
}
