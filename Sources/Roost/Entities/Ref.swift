// SPDX-License-Identifier: Apache-2.0

/// A reference from one object to another, by ID. It does not own the other object, and does not promise that there is one.
///
/// ```swift
/// let author = try tx.get(Author.self, id: book.author.id)
/// ```
///
/// Stored and indexed as the ID that it holds, so `$0.author.id == id` is served by an index on `\.author`. Encoded by
/// `Codable` as that ID alone.
public struct Ref<Target: Entity>: Hashable, Codable, Sendable {
    /// The ID of the object that is meant.
    public var id: Target.ID

    /// A reference to the object with this ID, which need not exist.
    @inlinable
    public init(_ id: Target.ID) { self.id = id }

    /// A reference to this object.
    @inlinable
    public init(_ target: Target) { id = target.id }

    public init(from decoder: any Decoder) throws { id = try Target.ID(from: decoder) }
    public func encode(to encoder: any Encoder) throws { try id.encode(to: encoder) }
}

/// Stored, indexed and compared as the ID that it holds.
@_documentation(visibility: internal)
extension Ref: FieldValue {
    public static var fieldType: FieldType { Target.ID.fieldType }
    @inlinable public static var storedWidth: Int { Target.ID.storedWidth }
    public static var isOrderedAsStored: Bool { Target.ID.isOrderedAsStored }
    public static var referencedEntityName: String? { Target.entityName }
    @inlinable public var storedByteCount: Int { id.storedByteCount }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) { id.store(to: bytes) }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Ref {
        Ref(try Target.ID.load(bytes))
    }

    public var storedValue: StoredValue { id.storedValue }
}

extension Ref: CustomStringConvertible {
    public var description: String { "\(Target.entityName)(\(id))" }
}
