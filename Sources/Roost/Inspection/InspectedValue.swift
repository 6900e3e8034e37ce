// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A field's value to be shown: of its stored kind, and text in its own spelling.
package enum InspectedValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case float(Float)
    case double(Double)
    /// Seconds since the reference date.
    case date(Double)
    case text(String)
    case data([UInt8])
    case uuid(UUID)
    case list([InspectedValue])
}

extension InspectedValue {
    /// Reads what a field of `type` stores; `type` is not optional.
    init(_ bytes: UnsafeRawBufferPointer, _ type: FieldType) throws(RecordFailure) {
        guard case .scalar(let scalar) = type else {
            var elements: [InspectedValue] = []
            try RecordView.forEachElement(bytes, type) { (element, type) throws(RecordFailure) in
                guard let element else {
                    elements.append(.null)
                    return
                }
                elements.append(try InspectedValue(element, type))
            }
            self = .list(elements)
            return
        }
        switch scalar {
        case .float: self = .float(try Float.load(bytes))
        case .double: self = .double(try Double.load(bytes))
        case .date: self = .date(try Double.load(bytes))
        case .uuid: self = .uuid(try UUID.load(bytes))
        case .string: self = .text(try String.load(bytes))
        case .data: self = .data(Array(bytes))
        default: self.init(try RecordView.value(bytes, type))
        }
    }

    /// The kinds that are the same in every spelling.
    private init(_ value: StoredValue) {
        switch value {
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .int(value)
        case .uint(let value): self = .uint(value)
        case .double(let value): self = .double(value)
        case .text(let value): self = .text(String(decoding: value, as: UTF8.self))
        case .bytes(let value): self = .data(value)
        case .uuid(let value):
            let id = value.withUnsafeBytes { try? UUID.load($0) }
            self = id.map { .uuid($0) } ?? .data(value)
        case .list(let values): self = .list(values.map { InspectedValue($0) })
        case .null: self = .null
        }
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
        guard case .key = field.location else { return try InspectedValue(bytes, field.type.unwrapped) }
        switch try Self.idValue(key: bytes, field.type) {
        case .int(let value): return .int(value)
        case .uint(let value): return .uint(value)
        default: return .uuid(try UUID.load(bytes))
        }
    }

    /// All fields, in the layout's order.
    func inspected(_ state: EntityState) throws(StoreError) -> [InspectedValue] {
        var row: [InspectedValue] = []
        row.reserveCapacity(layout.fields.count)
        for position in layout.fields.indices {
            do throws(RecordFailure) {
                row.append(try inspected(position))
            } catch {
                throw state.damaged(error, key: key, record: record, field: layout.fields[position].name)
            }
        }
        return row
    }
}
