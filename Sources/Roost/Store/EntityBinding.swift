// SPDX-License-Identifier: Apache-2.0

/// The link between a Swift type and the catalog's entity: which key path means which field. Immutable.
@usableFromInline
final class EntityBinding: Sendable {
    @usableFromInline let type: ObjectIdentifier
    @usableFromInline let state: EntityState
    /// By every spelling of a field, its position in the record.
    private let positions: [FieldKeyPath: Int]
    /// By position: whether the type's `<` is the stored order.
    let isOrderedAsStored: [Bool]

    init<T: Entity>(_: T.Type, state: EntityState) {
        type = ObjectIdentifier(T.self)
        self.state = state
        var positions: [FieldKeyPath: Int] = [T.genericIDKeyPath: 0]
        var ordered: [Bool] = []
        for (position, field) in T.fields.enumerated() {
            for keyPath in field.keyPaths { positions[keyPath] = position }
            ordered.append(field.isOrderedAsStored)
        }
        self.positions = positions
        isOrderedAsStored = ordered
    }

    func position(of keyPath: AnyKeyPath) -> Int? { positions[FieldKeyPath(keyPath)] }
}
