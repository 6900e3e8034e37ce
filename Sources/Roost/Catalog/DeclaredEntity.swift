// SPDX-License-Identifier: Apache-2.0

/// An entity's declaration with the Swift type taken out, to be matched with the catalog.
struct DeclaredEntity: Equatable, Sendable {
    struct Field: Equatable, Sendable {
        var name: String
        var type: FieldType
        var references: String?
    }

    struct Index: Equatable, Sendable {
        /// Positions in `fields`.
        var fields: [Int]
        var kind: IndexKind
    }

    var name: String
    /// `id` first.
    var fields: [Field]
    var indexes: [Index]

    init<T: Entity>(_ type: T.Type) throws(StoreError) {
        name = T.entityName
        func invalid(_ what: String) -> StoreError {
            StoreError(.invalidSchema, "Entity \(T.entityName): \(what)", entity: T.entityName)
        }
        let declared = T.fields
        guard let first = declared.first, first.name == "id", first.type == T.ID.fieldType else {
            throw invalid("the first field must be id.")
        }
        for field in declared where FieldType(field.type.description) != field.type {
            throw invalid("\(field.name) is of type \(field.type), which a store cannot keep.")
        }
        guard Set(declared.map(\.name)).count == declared.count else { throw invalid("two fields have one name.") }
        fields = declared.map { Field(name: $0.name, type: $0.type, references: $0.references) }
        indexes = []
        for index in T.indexes {
            var positions: [Int] = []
            for keyPath in index.keyPaths {
                guard let position = declared.firstIndex(where: { $0.isSpelled(FieldKeyPath(keyPath)) }) else {
                    // Not the key path itself: one of a computed property is described by its address.
                    throw invalid(
                        "an index names a property, of type \(Swift.type(of: keyPath).valueType), that is not one of its "
                            + "fields: \(declared.map(\.name).joined(separator: ", ")). Only a field itself can be indexed."
                    )
                }
                guard index.kind.component(of: declared[position].type) != nil else {
                    throw invalid(index.kind.refusal(ofField: declared[position].name))
                }
                positions.append(position)
            }
            guard !positions.isEmpty, Set(positions).count == positions.count else {
                throw invalid("an index must name at least one field, and none twice.")
            }
            let schema = Index(fields: positions, kind: index.kind)
            guard !indexes.contains(schema) else { throw invalid("an index is declared twice.") }
            indexes.append(schema)
        }
    }

    /// Escaped bytes that each text or data component of an index may take, so that the whole key stays within LMDB's 511
    /// bytes whatever the ID. Written into the catalog: the rule may change, a file's keys may not.
    func textLimit(of index: Index) throws(StoreError) -> Int {
        let budget = 511 - maximumIDKeyLength
        var fixed = 0
        var varying = 0
        for position in index.fields {
            guard let type = index.kind.component(of: fields[position].type), let scalar = type.scalar else { continue }
            fixed += type.isOptional ? 1 : 0
            // A cut text or data ends in a mark and eight bytes of hash.
            let width = scalar.codec.keyWidth
            if width > 0 { fixed += width } else { fixed += 9; varying += 1 }
        }
        guard varying > 0 else {
            if fixed <= budget { return 0 }
            throw StoreError(.invalidSchema, "Entity \(name): an index has too many fields for one key.", entity: name)
        }
        let limit = (budget - fixed) / varying
        guard limit >= 16 else {
            throw StoreError(.invalidSchema, "Entity \(name): an index has too many fields for one key.", entity: name)
        }
        return limit
    }
}

extension Catalog {
    /// Adds an entity that the catalog does not know; throws when it knows it otherwise. Returns whether it changed.
    mutating func register(_ schema: DeclaredEntity) throws(StoreError) -> Bool {
        if let known = entity(named: schema.name) {
            try known.verify(schema)
            return false
        }
        var entity = Entity(
            number: nextEntity, name: schema.name, database: nextDatabase, fields: [], layouts: [], currentLayout: 1,
            indexes: [], nextField: 1, nextIndex: 1)
        nextEntity += 1
        nextDatabase += 1
        for field in schema.fields {
            entity.fields.append(
                Field(
                    number: entity.nextField, name: field.name, type: field.type.description,
                    references: field.references))
            entity.nextField += 1
        }
        entity.layouts = [Layout(number: 1, fields: entity.fields.map(\.number))]
        for index in schema.indexes {
            entity.indexes.append(
                Index(
                    number: entity.nextIndex, database: nextDatabase, fields: index.fields.map { $0 + 1 },
                    kind: index.kind, textLimit: try schema.textLimit(of: index)))
            entity.nextIndex += 1
            nextDatabase += 1
        }
        entities.append(entity)
        return true
    }
}

extension Catalog.Entity {
    /// Throws `schemaMismatch`, with the first difference, unless the declaration is the catalog's.
    func verify(_ schema: DeclaredEntity) throws(StoreError) {
        func differs(_ what: String, field: String? = nil) -> StoreError {
            StoreError(
                .schemaMismatch,
                "Entity \(name) is declared otherwise than in the store: \(what). This version cannot migrate a store; "
                    + "restore the declaration, or import into a new store.",
                entity: name, field: field)
        }
        let order = layouts.first { $0.number == currentLayout }?.fields ?? []
        let stored = order.compactMap { number in fields.first { $0.number == number } }
        for field in stored where !schema.fields.contains(where: { $0.name == field.name }) {
            throw differs("field \(field.name) (\(field.type)) is missing", field: field.name)
        }
        for field in schema.fields where !stored.contains(where: { $0.name == field.name }) {
            throw differs("field \(field.name) (\(field.type)) is new", field: field.name)
        }
        for (position, field) in schema.fields.enumerated() {
            guard stored[position].name == field.name else {
                throw differs("field \(field.name) is at another place", field: field.name)
            }
            guard stored[position].type == field.type.description, stored[position].references == field.references
            else {
                throw differs(
                    "field \(field.name) is \(field.type) here and \(stored[position].type) there", field: field.name)
            }
        }
        let wanted = Set(schema.indexes.map { "\($0.kind) \($0.fields.map { schema.fields[$0].name })" })
        let kept = Set(
            indexes.map { index in
                "\(index.kind) \(index.fields.map { number in fields.first { $0.number == number }?.name ?? "" })"
            })
        guard wanted == kept else { throw differs("its indexes are not the same") }
    }
}
