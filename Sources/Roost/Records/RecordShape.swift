// SPDX-License-Identifier: Apache-2.0

/// How many bytes each part of an entity's record takes, known from the types alone.
///
/// ```
/// 0       format (1)   0   layout (UInt16)   checksum (UInt32)
/// 8       null bits, one a field
/// …       fields of a fixed width, in their order
/// …       end offsets of the fields of a varying width (UInt32 each, from the record's start)
/// …       their bytes
/// ```
///
/// The macro's code builds it from the fields' types; specialised, it is a constant.
public struct RecordShape: Sendable, Equatable {
    @usableFromInline static var headerSize: Int { 8 }
    @usableFromInline static var checksumOffset: Int { 4 }
    @usableFromInline static var formatVersion: UInt8 { 1 }

    @usableFromInline var fieldCount: Int
    @usableFromInline var fixedBytes = 0
    @usableFromInline var variableCount = 0

    /// A record of `fieldCount` fields, `id` among them.
    @inlinable
    @inline(__always)
    public init(fieldCount: Int) { self.fieldCount = fieldCount }

    /// Adds the ID, which the record holds only where the key does not keep its spelling.
    @inlinable
    @inline(__always)
    public func id<ID: EntityID>(_ type: ID.Type) -> RecordShape { ID.isKeptInRecord ? field(type) : self }

    /// Adds a field.
    @inlinable
    @inline(__always)
    public func field<Value: FieldValue>(_: Value.Type) -> RecordShape {
        var shape = self
        if Value.storedWidth > 0 { shape.fixedBytes += Value.storedWidth } else { shape.variableCount += 1 }
        return shape
    }

    @inlinable var fixedStart: Int { RecordShape.headerSize + (fieldCount + 7) / 8 }
    @inlinable var tableStart: Int { fixedStart + fixedBytes }
    @inlinable var bodyStart: Int { tableStart + 4 * variableCount }
}

/// The first four bytes of every record of a layout.
@usableFromInline
struct RecordHeader: Equatable, Sendable {
    @usableFromInline let word: UInt32

    init(layout: UInt16) { word = UInt32(RecordShape.formatVersion) | UInt32(layout) << 16 }
}
