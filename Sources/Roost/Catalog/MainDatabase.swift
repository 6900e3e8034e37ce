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
        try value.withUnsafeBytes { try put(key, $0, in: transaction) }
    }

    private func put(_ key: Key, _ value: UnsafeRawBufferPointer, in transaction: Transaction) throws {
        try key.bytes.withUnsafeBytes { _ = try transaction.put(database, key: $0, value: value) }
    }

    // MARK: Counts and the sequence
    //
    // Every one is read here, and checked: it is as long as it must be, and so far from overflowing that what is added to
    // it need not be looked at.

    /// Beyond what a store can count to in the life of its machine.
    static let greatestCount = UInt64(1) << 62

    /// An 8-byte little-endian number; 0 when there is none. Throws `damaged` for anything else, and for more than
    /// `greatest`.
    func count(
        _ key: Key, atMost greatest: UInt64 = greatestCount, in transaction: Transaction
    ) throws -> UInt64 {
        guard let bytes = try get(key, in: transaction) else { return 0 }
        return try Self.number(key, bytes, size: 8, atMost: greatest)
    }

    func setCount(_ key: Key, _ value: UInt64, in transaction: Transaction) throws {
        try withUnsafeBytes(of: value.littleEndian) { try put(key, $0, in: transaction) }
    }

    /// The number of the catalog's last change.
    func generation(in transaction: Transaction) throws -> UInt64 {
        guard let bytes = try get(.generation, in: transaction) else { throw Self.damaged(.generation, "is missing") }
        return try Self.number(.generation, bytes, size: 8, atMost: Self.greatestCount)
    }

    /// The last commit's sequence and nonce.
    func sequence(in transaction: Transaction) throws -> (sequence: UInt64, nonce: UInt64) {
        guard let bytes = try get(.sequence, in: transaction) else { throw Self.damaged(.sequence, "is missing") }
        return (
            try Self.number(.sequence, bytes, size: 16, atMost: Self.greatestCount),
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }

    func setSequence(_ sequence: UInt64, nonce: UInt64, in transaction: Transaction) throws {
        try withUnsafeBytes(of: (sequence.littleEndian, nonce.littleEndian)) {
            try put(.sequence, $0, in: transaction)
        }
    }

    /// The number that `bytes`, which must be `size` long, begin with.
    private static func number(
        _ key: Key, _ bytes: UnsafeRawBufferPointer, size: Int, atMost greatest: UInt64
    ) throws(StoreError) -> UInt64 {
        guard bytes.count == size else {
            throw damaged(key, "has \(bytes.count) bytes instead of \(size)")
        }
        let number = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        guard number <= greatest else { throw damaged(key, "holds \(number), which cannot be") }
        return number
    }

    private static func damaged(_ key: Key, _ what: String) -> StoreError {
        let name = String(decoding: key.bytes, as: UTF8.self)
        return StoreError(
            .damaged, "The store is damaged: its entry \(name) \(what). Restore the store from a copy.")
    }
}
