// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import Testing

@testable import Roost

/// The test vectors of SPEC.md, as they stand there, through a store and its file.
struct SpecificationTests {
    @Entity struct Vector {
        var id: Int
        var name: String
        var size: Int32?
        var on: Bool
    }

    @Test func recordOfSectionFour() throws {
        let place = TemporaryPlace()
        let store = try Store.open(at: place.url, entities: Vector.self)
        try store.write { tx in try tx.insert(Vector(id: 1, name: "a", size: nil, on: true)) }
        let state = try store.binding(of: Vector.self).entity
        let key: [UInt8] = [0x80, 0, 0, 0, 0, 0, 0, 1]
        let record = try store.engine.environment.read { transaction in
            try key.withUnsafeBytes { key in try transaction.get(state.records, key).map { Array($0) } }
        }
        var expected: [UInt8] = [1, 0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 1, 19, 0, 0, 0, 0x61]
        let checked = key + expected[..<4] + expected[8...]
        let checksum = checked.withUnsafeBytes { Checksum.crc32c($0) }
        for index in 0..<4 { expected[4 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index))) }
        #expect(record == expected)
        try store.close()
    }

    @Test func keysOfSectionFive() {
        func key(_ value: some FieldValue) -> [UInt8] {
            var key = KeyBytes()
            key.append(value.storedValue, limit: Int.max)
            return key.bytes
        }
        #expect(key(-1) == [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(key(0) == [0x80, 0, 0, 0, 0, 0, 0, 0])
        #expect(key(-0.0) == [0x80, 0, 0, 0, 0, 0, 0, 0])
        #expect(key(-1.0) == [0x40, 0x0F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(key("\u{E9}") == [0xC3, 0xA9, 0])
        #expect(key("e\u{301}") == [0xC3, 0xA9, 0])
        #expect(key("a\0b") == [0x61, 1, 1, 0x62, 0])
    }

    /// With `00 FF` for an embedded zero and a single `00` as the end, these two would sort the wrong way round.
    @Test func endOfATextIsNotDisturbedByWhatFollows() {
        func key(_ text: String, _ number: Int) -> [UInt8] {
            var key = KeyBytes()
            key.appendText(text, limit: Int.max)
            key.append(int: Int64(number))
            return key.bytes
        }
        #expect(key("a", .max).lexicographicallyPrecedes(key("a\0", .min)))
        #expect(key("a", .max).lexicographicallyPrecedes(key("a\u{1}", .min)))
        #expect(key("a\0", .max).lexicographicallyPrecedes(key("a\u{1}", .min)))
    }

    @Test func mainDatabaseOfSectionTwo() throws {
        let place = TemporaryPlace()
        let store = try Store.open(at: place.url, entities: Vector.self)
        try store.write { tx in try tx.insert(Vector(id: 1, name: "a", size: nil, on: true)) }
        let engine = store.engine
        try engine.environment.read { transaction in
            let header = try #require(try engine.main.get(.header, in: transaction))
            #expect(header.count == 40 && Array(header[..<8]) == Array("RoostDB\n".utf8))
            let sequence = try engine.main.sequence(in: transaction)
            #expect(sequence.sequence == 1 && sequence.nonce != 0)
            let catalog = try #require(try engine.main.get(.catalog, in: transaction))
            let json = String(decoding: catalog[4...], as: UTF8.self)
            #expect(json.hasPrefix(#"{"entities":[{"currentLayout":1,"database":1,"#))
        }
        try store.close()
    }

    @Test func historyEntryOfSectionSix() throws {
        var changes = EntityChanges(entity: 3, name: "a")
        let rows: [(Int, EntityChanges.Kind, ChangedFields)] = [
            (1, .inserted, .none), (2, .deleted, .none), (3, .updated, ChangedFields([1, 64])),
        ]
        changes.rows = try rows.map { id, kind, fields in
            EntityChanges.Row(key: try id.withKey { Array($0) }, kind: kind, fields: fields)
        }
        let many = EntityChanges(entity: 4, name: "b", isComplete: false)
        let entry = History.encode(
            nonce: 1, origin: 2, changes: [changes, many], at: Date(timeIntervalSinceReferenceDate: 0))
        var expected: [UInt8] = [1, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        expected += [3, 0, 0, 0, 3, 0, 0, 0]
        expected += [0, 8, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 8, 0x80, 0, 0, 0, 0, 0, 0, 2]
        expected += [1, 8, 0x80, 0, 0, 0, 0, 0, 0, 3, 9, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]
        expected += [4, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]
        #expect(entry == expected && entry.count == 85)
        let decoded = try #require(entry.withUnsafeBytes { History.decode($0) })
        #expect(decoded.entities[0].rows?.map(\.fields) == rows.map(\.2))
        #expect(decoded.entities[1].rows == nil)
    }
}
