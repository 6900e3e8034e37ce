// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

/// What an environment holds when it is a store's: read, or made, while it is being opened.
struct StoreFile {
    let header: StoreHeader
    let main: MainDatabase
    let history: History
    let catalog: Catalog
    let generation: UInt64
    /// The last commit's.
    let sequence: UInt64
    let databases: [Int: Database]

    /// Reads the store, and makes it first where the file is empty.
    init(_ environment: Environment) throws {
        let path = environment.directory
        if let found = try Self.read(environment) {
            self = found
            return
        }
        guard !environment.options.isReadOnly else {
            throw StoreError(.notAStore, "\(path) is not a Roost store: its file is empty.", path: path)
        }
        try Self.make(environment)
        guard let made = try Self.read(environment) else {
            throw StoreError(.damaged, "The header of \(path) is missing.", path: path)
        }
        self = made
    }

    private static func make(_ environment: Environment) throws {
        try environment.write { transaction in
            let databases = try environment.openDatabases(
                [(nil, .housekeeping), (MainDatabase.historyName, .housekeeping)], in: transaction)
            guard let database = databases[0] else { return }
            let main = MainDatabase(database: database)
            // Another process may have made it between the two transactions.
            if try main.get(.header, in: transaction) != nil { return }
            try main.put(.header, StoreHeader().bytes, in: transaction)
            try main.put(.catalog, try Catalog().encoded(), in: transaction)
            try main.setCount(.generation, 1, in: transaction)
            try main.setSequence(0, nonce: 0, in: transaction)
        }
    }

    private static func read(_ environment: Environment) throws -> StoreFile? {
        try environment.readToOpen { try StoreFile(environment, $0) }
    }

    /// Reads header and catalog and opens every database (hazard 15). Nil for an empty file.
    private init?(_ environment: Environment, _ transaction: Transaction) throws {
        let path = environment.directory
        guard let database = try environment.openDatabases([(nil, .housekeeping)], in: transaction)[0] else {
            return nil
        }
        main = MainDatabase(database: database)
        guard let headerBytes = try main.get(.header, in: transaction) else {
            guard try transaction.statistics(of: database).entries == 0 else {
                throw StoreError(
                    .notAStore, "\(path) is not a Roost store, but an LMDB file of another program.", path: path)
            }
            return nil
        }
        header = try StoreHeader(Array(headerBytes), path: path)
        if !environment.options.isReadOnly { try header.verifyWritable(path: path) }
        guard let catalogBytes = try main.get(.catalog, in: transaction) else {
            throw StoreError(.damaged, "The catalog of \(path) is missing.", path: path)
        }
        catalog = try Catalog(bytes: catalogBytes)
        guard
            let history = try environment.openDatabases(
                [(MainDatabase.historyName, .housekeeping)], in: transaction)[0]
        else { throw StoreError(.damaged, "The history of \(path) is missing.", path: path) }
        self.history = History(database: history, maximumSize: environment.options.maximumSize)
        databases = try SchemaRegistry.openDatabases(of: catalog, beside: [:], environment, transaction)
        generation = try main.generation(in: transaction)
        sequence = try main.sequence(in: transaction).sequence
    }

    // MARK: Before LMDB

    /// Looks at the file before LMDB does (hazard 27), for one who is going to write or one who is not.
    static func inspect(_ path: String, isReadOnly: Bool) throws {
        try probing(path) { file in
            guard let entry = try FileProbe.firstEntry(of: file) else { return }
            guard entry.key == MainDatabase.Key.header.bytes else {
                throw StoreError(
                    .notAStore, "\(path) is not a Roost store, but an LMDB file of another program.", path: path)
            }
            let header = try StoreHeader(entry.value, path: path)
            if !isReadOnly { try header.verifyWritable(path: path) }
        }
    }

    /// Runs `body` on the data file's path. Another process may be creating the file at this moment, so a finding that
    /// would then be passing is looked at again (hazard 33).
    static func probing<Result>(_ path: String, _ body: (String) throws -> Result) throws -> Result {
        let file = Environment.dataFile(in: path)
        var attempt = 0
        while true {
            do {
                return try body(file)
            } catch let finding as FileProbe.Finding {
                attempt += 1
                if attempt >= 5 { throw StoreError(finding, path: path) }
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }
}
