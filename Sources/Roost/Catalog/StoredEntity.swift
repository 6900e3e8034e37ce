// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

/// An entity of an open store, made from the catalog alone: where its records and index entries are, and how to read them.
/// Immutable; shared by all threads.
@usableFromInline
final class StoredEntity: Sendable {
    let number: Int
    @usableFromInline let name: String
    let layout: RecordLayout
    let records: Database
    let indexes: [StoredIndex]
    /// The Unicode version by which the store's text keys were made, where this build would make others.
    private let foreignUnicode: String?
    /// Whether the keys of records were made of text by other Unicode data.
    let hasForeignIDs: Bool
    /// Whether this build makes all the keys that a write needs as the store has them.
    let isWritable: Bool

    @usableFromInline var handle: StoredEntity.Handle { StoredEntity.Handle(self) }

    init(_ entity: Catalog.Entity, of catalog: Catalog, databases: [Int: Database]) throws {
        func damaged(_ what: String) -> StoreError { .contradiction(what, in: entity) }
        number = entity.number
        name = entity.name
        layout = try RecordLayout(entity)
        guard let records = databases[entity.database] else { throw damaged("database \(entity.database) is missing") }
        self.records = records
        let placed = self.layout
        let hasOwnUnicode = catalog.unicode == NormalizedText.unicodeVersion
        foreignUnicode = hasOwnUnicode ? nil : catalog.unicode
        hasForeignIDs = !hasOwnUnicode && placed.fields[0].type.scalar?.codec.followsUnicode == true
        indexes = try entity.indexes.map { index in
            guard let database = databases[index.database] else {
                throw damaged("database \(index.database) is missing")
            }
            let components = try index.fields.map { number -> StoredIndex.Component in
                guard let position = placed.fields.firstIndex(where: { $0.number == number }) else {
                    throw damaged("an index of \(entity.name) names field \(number)")
                }
                let field = placed.fields[position].type
                guard let type = index.kind.component(of: field), let scalar = type.scalar else {
                    throw damaged("an index of \(entity.name) names field \(number), which it cannot hold")
                }
                return StoredIndex.Component(
                    position: position, scalar: scalar, isOptional: type.isOptional)
            }
            guard components.count <= index.kind.mostFields else {
                throw damaged("an index of \(entity.name) is malformed")
            }
            return StoredIndex(
                number: index.number, database: database, databaseNumber: index.database, components: components,
                kind: index.kind, textLimit: index.textLimit, hasOwnUnicode: hasOwnUnicode,
                entityName: entity.name, fieldNames: components.map { placed.fields[$0.position].name })
        }
        isWritable = !hasForeignIDs && indexes.allSatisfy(\.hasOwnKeys)
    }

    /// What writing to the entity throws unless it `isWritable`.
    @inline(never)
    func notWritable() -> StoreError {
        StoreError(
            .schemaMismatch,
            "\(name) has a text ID or an index of text and cannot be written here: the store's text keys follow Unicode "
                + "\(foreignUnicode ?? "?"), this program's Unicode \(NormalizedText.unicodeVersion). Write with a program "
                + "that has the store's version, or copy the objects into a new store.",
            entity: name)
    }

    /// The door to a record: hands `body` the view of it, and names entity and ID in the error of one that cannot be read.
    ///
    /// Costs nothing beside `body` as long as all is well. Objects have a door of their own, `Entity.decoded`; only who asks
    /// whether bytes are a record at all makes a `RecordView` without one.
    @inline(__always)
    func read<Result>(
        key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer, field: @autoclosure () -> String? = nil,
        _ body: (RecordView) throws -> Result
    ) throws -> Result {
        try namingDamage(key: key, record: record, field: field()) {
            try body(try RecordView(key: key, record: record, layout: layout))
        }
    }

    /// The ID that a record's key stands for; `record` is nil where the key is all there is.
    func readID<ID: EntityID>(
        _: ID.Type, key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer? = nil
    ) throws -> ID {
        try namingDamage(key: key, record: record, field: "id") { try ID.load(key: key) }
    }

    /// Turns what says only that bytes cannot be read into the error that says whose they are.
    @inline(__always)
    func namingDamage<Result>(
        key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer?, field: @autoclosure () -> String? = nil,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let failure as RecordFailure {
            throw damaged(failure, key: key, record: record, field: field())
        }
    }

    /// The error of a record that cannot be read. Where there is one, its checksum tells whether it is as it was written.
    @inline(never)
    func damaged(
        _ failure: RecordFailure, key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer?, field: String? = nil
    ) -> StoreError {
        let id = describeID(key)
        var message = "The record of \(name) \(id)\(field.map { ", field \($0)" } ?? "") cannot be read: "
        message += failure.explanation
        if let record {
            message +=
                RecordView.hasValidChecksum(key: key, record: record)
                ? "; it is as it was written: its checksum is right. Read it with the version of the program that wrote it. "
                    + "Or delete or replace the object, or remove all such objects by Store.repair(_:removing: .unknown)"
                : "; it was changed since: its checksum is wrong. Delete or replace the object, or remove all that are lost "
                    + "by Store.repair"
        }
        return StoreError(.damaged, message + ".", entity: name, id: id, field: field)
    }

    /// The ID that a record's key stands for, described for messages.
    func describeID(_ key: UnsafeRawBufferPointer) -> String {
        if case .key = layout.fields[0].location, let scalar = layout.fields[0].scalar {
            return (try? scalar.codec.read(key: key).printed) ?? Data(key).printed
        }
        return String(decoding: key.dropLast(), as: UTF8.self)
    }
}

extension RecordLayout {
    /// The layout that new records of the entity have. Needs no open file.
    convenience init(_ entity: Catalog.Entity) throws(StoreError) {
        func damaged(_ what: String) -> StoreError { .contradiction(what, in: entity) }
        guard let layout = entity.layouts.first(where: { $0.number == entity.currentLayout }),
            let layoutNumber = UInt16(exactly: layout.number), !layout.fields.isEmpty
        else { throw damaged("entity \(entity.name) has no layout") }
        var fields: [(number: Int, name: String, type: FieldType, references: String?)] = []
        for number in layout.fields {
            guard let field = entity.fields.first(where: { $0.number == number }), let type = FieldType(field.type)
            else { throw damaged("field \(number) of \(entity.name) is missing or of an unknown type") }
            fields.append((field.number, field.name, type, field.references))
        }
        guard fields[0].type.scalar != nil, !fields[0].type.isOptional else {
            throw damaged("the ID of \(entity.name) is not a plain value")
        }
        self.init(number: layoutNumber, fields: fields)
    }
}

extension StoreError {
    fileprivate static func contradiction(_ what: String, in entity: Catalog.Entity) -> StoreError {
        StoreError(.damaged, "The store's catalog contradicts itself: \(what).", entity: entity.name)
    }
}
