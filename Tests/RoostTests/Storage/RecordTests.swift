// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

@Suite struct RecordTests {
    @Test func everyTypeSurvivesTheStoreBitForBit() throws {
        var random = SeededGenerator()
        let objects = (0..<150).map { Storage.Everything.random(id: $0, using: &random) }
        try Store.withTemporary(Storage.Everything.self, Storage.Label.self, Storage.Note.self) { (store) throws in
            try store.write { tx in try tx.insert(contentsOf: objects) }
            let stored = try store.all(Storage.Everything.self)
            #expect(stored.map(\.fingerprint) == objects.map(\.fingerprint))
            for object in objects {
                let got = try #require(try store.get(Storage.Everything.self, id: object.id))
                #expect(got.fingerprint == object.fingerprint)
            }
        }
    }

    @Test func nanPayloadsAndSignedZerosKeepTheirBits() throws {
        for bits in [0x7FF8_0000_0000_0001, 0x7FF0_0000_0000_0001, 0xFFF8_0000_DEAD_BEEF, 1 << 63] as [UInt64] {
            let value = Double(bitPattern: bits)
            #expect(try roundTrip(value).bitPattern == bits)
            #expect(
                try roundTrip(Date(timeIntervalSinceReferenceDate: value)).timeIntervalSinceReferenceDate.bitPattern
                    == bits)
            #expect(try #require(try roundTrip([value]).first).bitPattern == bits)
        }
        for bits in [0x7FC0_0001, 0x7F80_0001, 0xFFC0_BEEF, 1 << 31] as [UInt32] {
            #expect(try roundTrip(Float(bitPattern: bits)).bitPattern == bits)
        }
    }

    private func roundTrip<Value: FieldValue>(_ value: Value) throws -> Value {
        var bytes = [UInt8](repeating: 0, count: value.storedByteCount)
        bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { value.store(to: base) } }
        return try bytes.withUnsafeBytes { try Value.load($0) }
    }

    enum Vector {
        @Entity struct Sample: Equatable {
            var id: Int
            var a: Int16
            var b: String
            var c: Double?
            var d: [String?]
            var e: [UInt16]
            var f: Bool
            var g: String?
        }

        @Entity struct Named: Equatable {
            var id: String
            var n: UInt8
        }
    }

    /// SPEC.md, "Records", byte by byte.
    @Test func aRecordIsTheseBytes() throws {
        let sample = Vector.Sample(
            id: 5, a: -2, b: "hé", c: nil, d: ["x", nil, ""], e: [1, 0x0203], f: true, g: nil)
        let (key, record) = try encode(sample, layout: 0x0102)
        #expect(key == [0x80, 0, 0, 0, 0, 0, 0, 5])
        var expected: [UInt8] = [
            0x01, 0x00, 0x02, 0x01,  // format, reserved, layout
            0x00, 0x00, 0x00, 0x00,  // the checksum, see below
            0b1000_1000,  // nulls: c is field 3, g is field 7
            0xFE, 0xFF,  // a
            0, 0, 0, 0, 0, 0, 0, 0,  // c, null
            0x01,  // f
            0x27, 0, 0, 0,  // end of b
            0x3B, 0, 0, 0,  // end of d
            0x3F, 0, 0, 0,  // end of e
            0x3F, 0, 0, 0,  // end of g
            0x68, 0xC3, 0xA9,  // b
            0x03, 0, 0, 0,  // d: three elements,
            0x02, 0, 0, 0, 0x03, 0, 0, 0, 0x04, 0, 0, 0,  // their ends,
            0x01, 0x78, 0x00, 0x01,  // and tags with bytes
            0x01, 0x00, 0x03, 0x02,  // e
        ]
        let checksum = bitwiseCRC32C(key + expected[..<4] + expected[8...])
        for index in 0..<4 { expected[4 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index))) }
        #expect(record == expected)
        #expect(try decode(Vector.Sample.self, key: key, record: record, layout: 0x0102) == sample)
    }

    @Test func aTextIDKeepsItsSpellingInTheRecord() throws {
        let (key, record) = try encode(Vector.Named(id: "e\u{301}\0", n: 9))
        #expect(key == [0xC3, 0xA9, 0x01, 0x01, 0x00])
        #expect(Array(record[..<4]) == [1, 0, 1, 0])
        #expect(Array(record[8...]) == [0, 9, 0x12, 0, 0, 0, 0x65, 0xCC, 0x81, 0x00])
        let back = try decode(Vector.Named.self, key: key, record: record)
        #expect(Array(back.id.unicodeScalars) == Array("e\u{301}\0".unicodeScalars))
    }

    @Test func theChecksumIsCRC32C() throws {
        // The check value of the CRC catalogue.
        #expect(Array("123456789".utf8).withUnsafeBytes { Checksum.crc32c($0) } == 0xE306_9283)
        var random = SeededGenerator()
        for length in 0..<70 {
            let bytes = random.bytes(length)
            #expect(bytes.withUnsafeBytes { Checksum.crc32c($0) } == bitwiseCRC32C(bytes))
        }
    }

    private func bitwiseCRC32C(_ bytes: [UInt8]) -> UInt32 {
        var crc = ~UInt32(0)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 != 0 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
        }
        return ~crc
    }

    @Test func theViewReadsWhatTheDecoderReads() throws {
        var random = SeededGenerator()
        let layout = try layout(Storage.Everything.self)
        #expect(layout.shape == Storage.Everything.recordShape)
        for id in 0..<40 {
            let object = Storage.Everything.random(id: id, using: &random)
            let (key, record) = try encode(object)
            try key.withUnsafeBytes { key in
                try record.withUnsafeBytes { record in
                    let view = try RecordView(key: key, record: record, layout: layout)
                    #expect(RecordView.hasValidChecksum(key: key, record: record))
                    for (position, child) in Mirror(reflecting: object).children.enumerated() {
                        let expected = try #require(child.value as? any FieldValue).storedValue
                        #expect("\(try view.value(position))" == "\(expected)", "\(child.label ?? "")")
                    }
                }
            }
        }
    }
}
