// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The link between a Swift type and the catalog's entity: which key path means which field. Nothing that it says changes.
@usableFromInline
final class EntityBinding: Sendable {
    let type: ObjectIdentifier
    let entity: StoredEntity
    /// By every spelling of a field.
    private let fields: [FieldKeyPath: NamedField]
    /// By position, what may follow a field's value and still mean it.
    private let continuations: [[FieldSpelling]]
    /// Key paths met before, kept alive so that one is known by its identity.
    private let recent = Mutex<[(keyPath: FieldKeyPath, field: NamedField)]>([])
    private static let recentLimit = 32

    init<T: Entity>(_: T.Type, entity: StoredEntity) {
        type = ObjectIdentifier(T.self)
        self.entity = entity
        let declared = T.fields
        var fields = [T.genericIDKeyPath: NamedField(position: 0, isOrderedAsStored: T.ID.isOrderedAsStored)]
        for (position, field) in declared.enumerated() {
            for spelling in field.spellings {
                fields[spelling.keyPath] = NamedField(
                    position: position, isOrderedAsStored: spelling.isOrderedAsStored)
            }
        }
        self.fields = fields
        continuations = declared.map(\.continuations)
    }

    func field(of keyPath: AnyKeyPath) -> NamedField? {
        // Hashing and comparing key paths costs a microsecond; a literal is the same object each time it is evaluated.
        let known = recent.withLock { recent in recent.first { $0.keyPath.path === keyPath }?.field }
        if let known { return known }
        guard let field = fields[FieldKeyPath(keyPath)] else { return nil }
        recent.withLock { recent in
            if recent.count < Self.recentLimit { recent.append((FieldKeyPath(keyPath), field)) }
        }
        return field
    }

    /// What `keyPath` gives of the field's value, if it is stored as that.
    func field(_ field: NamedField, continuedBy keyPath: AnyKeyPath) -> NamedField? {
        for continuation in continuations[field.position] where continuation.keyPath.path == keyPath {
            return NamedField(position: field.position, isOrderedAsStored: continuation.isOrderedAsStored)
        }
        return nil
    }

    /// The field that `keyPath` names, where its stored order is the one that Swift sorts it in.
    func sortPosition(_ keyPath: AnyKeyPath?) -> Int? {
        guard let keyPath, let field = field(of: keyPath), field.isOrderedAsStored else { return nil }
        return field.position
    }
}

/// A field as a key path names it.
struct NamedField: Sendable {
    let position: Int
    /// Whether `<` of what the key path gives is the stored order.
    let isOrderedAsStored: Bool
}

/// The bindings of a store, by type: few, so they are searched in their order. Looked into for every object that is read or
/// written, hence plain memory and no reference counting until the one is found.
///
/// Unchecked: nothing changes after `init`.
final class BindingTable: @unchecked Sendable {
    /// What is looked into, without the table; valid as long as the table is.
    struct Entries {
        fileprivate let start: UnsafeMutablePointer<(type: ObjectIdentifier, handle: StoredEntity.Handle)>
        fileprivate let count: Int

        @inline(__always)
        func handle(_ type: ObjectIdentifier) -> StoredEntity.Handle? {
            for index in 0..<count where start[index].type == type { return start[index].handle }
            return nil
        }
    }

    let entries: Entries
    private let bindings: [EntityBinding]

    init(_ bindings: [EntityBinding]) {
        self.bindings = bindings
        let start = UnsafeMutablePointer<(type: ObjectIdentifier, handle: StoredEntity.Handle)>.allocate(
            capacity: bindings.count)
        for (index, binding) in bindings.enumerated() {
            (start + index).initialize(to: (binding.type, binding.entity.handle))
        }
        entries = Entries(start: start, count: bindings.count)
    }

    deinit { entries.start.deallocate() }

    subscript(type: ObjectIdentifier) -> EntityBinding? { bindings.first { $0.type == type } }
}
