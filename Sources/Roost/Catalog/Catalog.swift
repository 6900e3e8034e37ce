// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The schema as the file keeps it: JSON with sorted keys, after a CRC-32C of it (SPEC.md, "Catalog").
///
/// Numbers of entities, fields, indexes, layouts and databases are handed out once and never again.
struct Catalog: Codable, Equatable, Sendable {
    struct Field: Codable, Equatable, Sendable {
        var number: Int
        var name: String
        /// See `FieldType.description`.
        var type: String
        var references: String?
    }

    /// Field numbers in record order, `id` first.
    struct Layout: Codable, Equatable, Sendable {
        var number: Int
        var fields: [Int]
    }

    struct Index: Codable, Equatable, Sendable {
        var number: Int
        var database: Int
        /// Field numbers, the most significant first.
        var fields: [Int]
        var kind: IndexKind
        /// Escaped bytes of a text or data component before it is cut.
        var textLimit: Int

        private enum CodingKeys: String, CodingKey {
            case number, database, fields, textLimit
            case kind = "each"
        }
    }

    struct Entity: Codable, Equatable, Sendable {
        var number: Int
        var name: String
        var database: Int
        var fields: [Field]
        var layouts: [Layout]
        var currentLayout: Int
        var indexes: [Index]
        var nextField: Int
        var nextIndex: Int
    }

    var entities: [Entity] = []
    var nextEntity = 1
    var nextDatabase = 1
    /// The Unicode version that text keys were normalised by.
    var unicode = NormalizedText.unicodeVersion

    func entity(named name: String) -> Entity? { entities.first { $0.name == name } }

    // MARK: Bytes

    init() {}

    init(bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count > 4 else { throw StoreError(.damaged, "The store's catalog is missing or cut off.") }
        let json = UnsafeRawBufferPointer(rebasing: bytes[4...])
        guard UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == Checksum.crc32c(json) else {
            throw StoreError(.damaged, "The store's catalog is damaged: its checksum is wrong.")
        }
        do {
            self = try JSONDecoder().decode(Catalog.self, from: Data(json))
        } catch {
            throw StoreError(.damaged, "The store's catalog cannot be read: \(error).")
        }
        guard isSound else { throw StoreError(.damaged, "The store's catalog contradicts itself.") }
    }

    /// Whether its numbers are ones that were handed out, none of them twice. The rest is looked at where it is used.
    private var isSound: Bool {
        func areHandedOut(_ numbers: [Int], next: Int) -> Bool {
            next <= Int(Int32.max) && Set(numbers).count == numbers.count
                && numbers.allSatisfy { 1..<max(1, next) ~= $0 }
        }
        let databases = entities.flatMap { [$0.database] + $0.indexes.map(\.database) }
        return areHandedOut(databases, next: nextDatabase) && areHandedOut(entities.map(\.number), next: nextEntity)
            && Set(entities.map(\.name)).count == entities.count
            && entities.allSatisfy { entity in
                areHandedOut(entity.fields.map(\.number), next: entity.nextField)
                    && areHandedOut(entity.indexes.map(\.number), next: entity.nextIndex)
                    && entity.indexes.allSatisfy { 0...511 ~= $0.textLimit && !$0.fields.isEmpty }
            }
    }

    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = Array(try encoder.encode(self))
        let checksum = json.withUnsafeBytes { Checksum.crc32c($0) }
        return withUnsafeBytes(of: checksum.littleEndian) { Array($0) } + json
    }
}
