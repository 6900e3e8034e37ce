// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB

extension Environment {
    static func open(
        _ path: String, options: Options = Options(durability: .unsafe),
        triesWhileMissing: Int = PresenceLock.triesWhileMissing
    ) throws -> Environment {
        try open(
            directory: path, options: options, triesWhileMissing: triesWhileMissing, inspect: {},
            prepare: { (environment: Environment) in environment })
    }

    /// Opens, runs and closes.
    static func with<Result>(
        _ path: String, options: Options = Options(durability: .unsafe), _ body: (Environment) throws -> Result
    ) throws -> Result {
        let environment = try open(path, options: options)
        defer { close(environment) }
        return try body(environment)
    }

    /// Databases by name, made where they do not exist.
    func databases(_ names: String...) throws -> [Database] {
        try write { transaction in
            try openDatabases(names.map { ($0, .records) }, in: transaction).compactMap { $0 }
        }
    }

    func put(_ database: Database, _ key: String, _ value: String) throws {
        try write { try $0.put(database, key, value) }
    }

    func get(_ database: Database, _ key: String) throws -> String? {
        try read { try $0.get(database, key) }
    }
}

extension Transaction {
    func put(_ database: Database, _ key: String, _ value: String) throws {
        try put(database, Array(key.utf8), Array(value.utf8))
    }

    func put(_ database: Database, _ key: [UInt8], _ value: [UInt8]) throws {
        try key.withUnsafeBytes { key in
            _ = try value.withUnsafeBytes { try put(database, key: key, value: $0) }
        }
    }

    @discardableResult
    func delete(_ database: Database, _ key: [UInt8]) throws -> Bool {
        try key.withUnsafeBytes { try delete(database, key: $0) }
    }

    func get(_ database: Database, _ key: String) throws -> String? {
        try Array(key.utf8).withUnsafeBytes { key in
            try get(database, key).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Every entry, in order.
    func entries(_ database: Database) throws -> [(key: [UInt8], value: [UInt8])] {
        var cursor = try cursor(database)
        var entries: [(key: [UInt8], value: [UInt8])] = []
        var isFound = try cursor.first()
        while isFound {
            entries.append((Array(cursor.key), Array(cursor.value)))
            isFound = try cursor.next()
        }
        return entries
    }
}

func isOptionsDiffer(_ error: (any Error)?) -> Bool {
    if case .optionsDiffer? = error as? Environment.OpenError { true } else { false }
}

func isLinked(_ error: (any Error)?) -> Bool {
    if case .linked? = error as? Environment.OpenError { true } else { false }
}

func isClosed(_ error: (any Error)?) -> Bool {
    if case .closed? = error as? Environment.UseError { true } else { false }
}

func isNestedWrite(_ error: (any Error)?) -> Bool {
    if case .nestedWrite? = error as? Environment.UseError { true } else { false }
}

func lmdbError(_ error: (any Error)?) -> LMDBError? {
    if case .lmdb(let error)? = error as? Environment.UseError { return error }
    return error as? LMDBError
}
