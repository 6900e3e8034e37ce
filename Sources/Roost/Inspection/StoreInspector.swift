// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

/// A store opened read-only by its catalog alone, for those who look into it without its Swift types.
///
/// Queries are planned and carried out by the same code as typed fetches. Nothing but LMDB's lock file is written, which
/// every reader must do; and not even that when the path, the file's header, its catalog or the query is at fault: all of
/// them are looked at before LMDB is.
package final class StoreInspector: Sendable {
    /// The newest store format that this version reads.
    package static let formatVersion = Int(StoreHeader.currentFormat)

    private let engine: Engine
    private let path: String

    /// Opens the store in the directory `path`. `query` is one that is going to be asked: it is checked first.
    package init(path: String, checking query: InspectionQuery? = nil) throws {
        let catalog = try Self.catalog(at: path)
        if let query { _ = try query.lowered(try RecordLayout(try catalog.entity(of: query, path: path))) }
        engine = try Engine.open(path: path, options: Store.Options(isReadOnly: true), schemas: []).0
        self.path = path
    }

    deinit {
        engine.announceRelease()
        engine.release()
    }

    // MARK: Before LMDB

    /// Reads the catalog from the file without LMDB.
    private static func catalog(at path: String) throws -> Catalog {
        try verifyPlace(path)
        try StoreFile.inspect(path, isReadOnly: true)
        var attempt = 0
        while true {
            let found = try StoreFile.probing(path) { try FileProbe.value(of: MainDatabase.Key.catalog.bytes, in: $0) }
            guard let bytes = found else {
                guard try StoreFile.probing(path, { try FileProbe.firstEntry(of: $0) }) != nil else {
                    throw StoreError(.notAStore, "\(path) is not a Roost store: its file is empty.", path: path)
                }
                throw StoreError(.damaged, "The catalog of \(path) is missing.", path: path)
            }
            do {
                return try bytes.withUnsafeBytes { try Catalog(bytes: $0) }
            } catch let error as StoreError {
                // A writer may have reused its pages while they were read.
                attempt += 1
                if attempt >= 5 { throw StoreError(error.code, "\(path): \(error.message)", path: path) }
            }
        }
    }

    private static func verifyPlace(_ path: String) throws(StoreError) {
        var info = stat()
        guard stat(path, &info) == 0 else {
            throw StoreError(systemError: errno, doing: "stat: \(SystemCode.describe(errno))", path: path)
        }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            throw StoreError(.notAStore, "\(path) is not a Roost store: a store is a directory.", path: path)
        }
        let file = Environment.dataFile(in: path)
        guard stat(file, &info) == 0 else {
            guard errno == ENOENT else {
                throw StoreError(systemError: errno, doing: "stat: \(SystemCode.describe(errno))", path: file)
            }
            throw StoreError(.notAStore, "\(path) is not a Roost store: it has no data.mdb.", path: path)
        }
        guard info.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.notAStore, "\(path) is not a Roost store: its data.mdb is not a file.", path: path)
        }
    }

    // MARK: Reading

    private func reading<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
        do {
            return try engine.environment.read { transaction in
                try engine.schema.verify(transaction)
                return try body(transaction)
            }
        } catch {
            throw StoreError.wrapping(error, engine: engine)
        }
    }

    private func refresh() throws {
        do { try engine.schema.refresh() } catch { throw StoreError.wrapping(error, engine: engine) }
    }

    private func entity(of query: InspectionQuery) throws -> StoredEntity {
        // Another process may have added it since the last look.
        try refresh()
        let entity = try engine.schema.catalog.entity(of: query, path: path)
        guard let stored = engine.schema.entities.first(where: { $0.name == entity.name }) else {
            throw StoreError.unknownEntity(entity.name)
        }
        return stored
    }

    /// The names of the fields, in the order of a row's values.
    package func fieldNames(of query: InspectionQuery) throws -> [String] {
        try entity(of: query).layout.fields.map(\.name)
    }

    /// Calls `body` with one row after the other, in the query's order, on one snapshot; what it throws passes through.
    /// Returns how the query was carried out.
    package func forEachRow(
        _ query: InspectionQuery, _ body: ([InspectedValue]) throws -> Void
    ) throws -> Explanation {
        let stored = try entity(of: query)
        let request = try query.lowered(stored.layout)
        return try reading { transaction in
            let execution = try Planner(entity: stored, engine: engine, transaction: transaction, request: request)
                .best()
            let before = transaction.counters
            var rows = 0
            try execution.forEachRow { key, record in
                rows += 1
                try body(try Self.row(key, record, stored))
            }
            return Explanation(execution, rows: rows, counters: transaction.counters - before)
        }
    }

    private static func row(
        _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, _ stored: StoredEntity
    ) throws -> [InspectedValue] {
        try stored.read(key: key, record: record) { try $0.inspected(stored) }
    }

    // MARK: Summary

    package func summary() throws -> StoreSummary {
        let readers = engine.environment.otherReaders
        let slots = engine.environment.readerSlots?.limit ?? 0
        try refresh()
        return try reading { transaction in
            let catalog = engine.schema.catalog
            let entities = engine.schema.entities
            let sizes = engine.environment.sizes
            var info = stat()
            let hasInfo = stat(Environment.dataFile(in: path), &info) == 0
            return StoreSummary(
                path: path, storeID: engine.header.storeID, formatVersion: Int(engine.header.format),
                unicodeVersion: catalog.unicode, sequence: try engine.sequence(in: transaction),
                history: try engine.history.bounds(in: transaction),
                pageSize: try transaction.statistics(of: engine.main.database).pageSize,
                fileSize: hasInfo ? Int(info.st_size) : 0, usedBytes: sizes?.extent ?? 0, mapSize: sizes?.map ?? 0,
                readerSlots: (readers?.slots ?? 0, slots), oldestReaderLag: readers?.oldestLag,
                entities: try catalog.entities.compactMap { entity in
                    try entities.first { $0.name == entity.name }.map { try summary(entity, $0, transaction) }
                })
        }
    }

    private func summary(
        _ entity: Catalog.Entity, _ stored: StoredEntity, _ transaction: Transaction
    ) throws -> StoreSummary.Entity {
        func tree(_ database: Database) throws -> StoreSummary.Tree {
            let statistics = try transaction.statistics(of: database)
            return StoreSummary.Tree(
                entries: statistics.entries, depth: statistics.depth, pages: statistics.pages)
        }
        func name(_ number: Int) -> String { entity.fields.first { $0.number == number }?.name ?? "?" }
        return StoreSummary.Entity(
            number: entity.number, name: entity.name,
            fields: stored.layout.fields.map {
                StoreSummary.Field(name: $0.name, type: $0.type.description, references: $0.references)
            },
            layouts: entity.layouts.map { layout in
                StoreSummary.Layout(
                    number: layout.number, fields: layout.fields.map(name),
                    isCurrent: layout.number == entity.currentLayout)
            },
            records: try tree(stored.records),
            indexes: try stored.indexes.map { index in
                StoreSummary.Index(
                    name: index.name, tree: try tree(index.database),
                    cutKeys: try engine.main.count(.inexactKeys(of: index.databaseNumber), in: transaction))
            })
    }
}

extension Catalog {
    fileprivate func entity(of query: InspectionQuery, path: String) throws(StoreError) -> Entity {
        if let entity = entity(named: query.entity) { return entity }
        let names = entities.map(\.name).sorted().joined(separator: ", ")
        throw StoreError(
            .unknownEntity,
            "\(path) has no type \(query.entity.debugDescription): it has \(names.isEmpty ? "none" : names).",
            entity: query.entity, path: path)
    }
}
