// SPDX-License-Identifier: Apache-2.0

/// A field of an entity: its name in the catalog, its type, and the key paths by which programs name it.
public struct Field<Root: Entity>: Sendable {
    let name: String
    let type: FieldType
    let references: String?
    /// Every spelling that means this field: `\.country`, for a reference `\.country.id`, for an enum `\.kind.rawValue`.
    let spellings: [FieldSpelling]
    /// What may follow the field's value, unwrapped where it is optional, and still mean the field: `\.id`, `\.rawValue`.
    let continuations: [FieldSpelling]

    /// A field of any storable type.
    public init<Value: FieldValue>(_ name: String, _ keyPath: KeyPath<Root, Value> & Sendable) {
        self.init(name, keyPath, spelled: [], continuations: [])
    }

    /// A field whose raw value, if it has one, is the same field: `RawValuePath<Value>().rawValue` says so.
    public init<Value: FieldValue>(
        _ name: String, _ keyPath: KeyPath<Root, Value> & Sendable, _ raw: RawValuePath<Value>
    ) {
        let joined = raw.continuation.flatMap { continuation in
            (keyPath as AnyKeyPath).appending(path: continuation.keyPath.path).map {
                FieldSpelling(keyPath: FieldKeyPath($0), isOrderedAsStored: continuation.isOrderedAsStored)
            }
        }
        self.init(name, keyPath, spelled: joined.map { [$0] } ?? [], continuations: raw.continuation.map { [$0] } ?? [])
    }

    /// A reference: its ID is the same field.
    public init<Target: Entity>(_ name: String, _ keyPath: KeyPath<Root, Ref<Target>> & Sendable) {
        self.init(
            name, keyPath, spelled: [.ofID(keyPath.appending(path: \.id), Target.self)],
            continuations: [.ofID(\Ref<Target>.id, Target.self)])
    }

    /// A reference that may be missing: so may its ID.
    public init<Target: Entity>(_ name: String, _ keyPath: KeyPath<Root, Ref<Target>?> & Sendable) {
        self.init(
            name, keyPath, spelled: [.ofID(keyPath.appending(path: \.?.id), Target.self)],
            continuations: [.ofID(\Ref<Target>.id, Target.self)])
    }

    func isSpelled(_ keyPath: FieldKeyPath) -> Bool { spellings.contains { $0.keyPath == keyPath } }

    private init<Value: FieldValue>(
        _ name: String, _ keyPath: KeyPath<Root, Value>, spelled: [FieldSpelling], continuations: [FieldSpelling]
    ) {
        self.name = name
        type = Value.fieldType
        references = Value.referencedEntityName
        spellings =
            [FieldSpelling(keyPath: FieldKeyPath(keyPath), isOrderedAsStored: Value.isOrderedAsStored)] + spelled
        self.continuations = continuations
    }
}

/// A key path that means a field, or goes on from its value to what is stored in its place.
struct FieldSpelling: Sendable {
    let keyPath: FieldKeyPath
    /// Whether `<` of what it gives is the stored order.
    let isOrderedAsStored: Bool

    fileprivate static func ofID<Target: Entity>(_ path: AnyKeyPath, _: Target.Type) -> FieldSpelling {
        FieldSpelling(keyPath: FieldKeyPath(path), isOrderedAsStored: Target.ID.isOrderedAsStored)
    }
}

/// A key path that names a field.
///
/// Unchecked: it is made of properties alone, so it captures nothing; the compiler knows that of each literal, but not of
/// two that were joined.
struct FieldKeyPath: Hashable, @unchecked Sendable {
    let path: AnyKeyPath
    init(_ path: AnyKeyPath) { self.path = path }
}

extension Entity {
    /// `id` as generic code spells it, which is not equal to the concrete type's own spelling.
    static var genericIDKeyPath: FieldKeyPath { FieldKeyPath(\Self.id) }
}

/// The way from a field's value to its raw value, as the module that declares the entity spells it: `\Status.rawValue`
/// written in generic code is another key path.
///
/// `RawValuePath<Value>().rawValue` compiles for every `Value`. Of the subscripts below, one that takes a key path is
/// preferred; where the type, or what an optional wraps, has no raw value that could be stored, the name alone is left.
@_documentation(visibility: internal)
@dynamicMemberLookup
public struct RawValuePath<Value: FieldValue>: Sendable {
    let continuation: FieldSpelling?

    public init() { continuation = nil }

    private init<Owner, Raw: FieldValue>(_ keyPath: KeyPath<Owner, Raw>) {
        // A raw value that can be missing is not the field's own nil.
        continuation =
            Raw.isNullable
            ? nil : FieldSpelling(keyPath: FieldKeyPath(keyPath), isOrderedAsStored: Raw.isOrderedAsStored)
    }

    public subscript(dynamicMember name: String) -> RawValuePath { self }

    public subscript(dynamicMember keyPath: KeyPath<Value, Value.RawValue>) -> RawValuePath
    where Value: RawRepresentable, Value.RawValue: FieldValue { RawValuePath(keyPath) }

    public subscript<Wrapped: RawRepresentable>(
        dynamicMember keyPath: KeyPath<Wrapped, Wrapped.RawValue>
    ) -> RawValuePath where Value == Wrapped?, Wrapped.RawValue: FieldValue { RawValuePath(keyPath) }
}
