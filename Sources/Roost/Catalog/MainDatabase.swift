// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// The entries of the unnamed database: the header, the catalog, the commit sequence and the counters. The names of the
/// numbered databases stand beside them, put there by LMDB (SPEC.md, "Main database").
struct MainDatabase {
    /// Keys begin with `!`, which sorts before the databases' names; the header's is the least of all.
    struct Key {
        let bytes: [UInt8]
        static let header = Key(bytes: Array("!Roost".utf8))
        static let catalog = Key(bytes: Array("!catalog".utf8))
        static let generation = Key(bytes: Array("!generation".utf8))
        static let historySize = Key(bytes: Array("!history".utf8))
        static let sequence = Key(bytes: Array("!sequence".utf8))
        static func inexactKeys(of database: Int) -> Key { Key(bytes: Array("!inexact/\(database)".utf8)) }
        static func nextID(of entity: Int) -> Key { Key(bytes: Array("!next/\(entity)".utf8)) }
    }

    static let historyName = "history"
    static func name(ofDatabase number: Int) -> String { "\(number)" }

    let database: Database

    func get(_ key: Key, in transaction: Transaction) throws -> UnsafeRawBufferPointer? {
        try key.bytes.withUnsafeBytes { try transaction.get(database, $0) }
    }

    func put(_ key: Key, _ value: [UInt8], in transaction: Transaction) throws {
        try key.bytes.withUnsafeBytes { key in
            _ = try value.withUnsafeBytes { try transaction.put(database, key: key, value: $0) }
        }
    }

    /// An 8-byte little-endian number; 0 when there is none.
    func count(_ key: Key, in transaction: Transaction) throws -> UInt64 {
        guard let bytes = try get(key, in: transaction), bytes.count >= 8 else { return 0 }
        return UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    }

    func setCount(_ key: Key, _ value: UInt64, in transaction: Transaction) throws {
        try put(key, withUnsafeBytes(of: value.littleEndian) { Array($0) }, in: transaction)
    }

    /// The last commit's sequence and nonce.
    func sequence(in transaction: Transaction) throws -> (sequence: UInt64, nonce: UInt64) {
        guard let bytes = try get(.sequence, in: transaction), bytes.count == 16 else { return (0, 0) }
        return (
            UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }

    func setSequence(_ sequence: UInt64, nonce: UInt64, in transaction: Transaction) throws {
        let bytes = [sequence, nonce].flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } }
        try put(.sequence, bytes, in: transaction)
    }
}
