// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// Hazard 27: Roost's decoders accept any bytes. A trap would end the test process, so getting here is the result.
@Suite struct DecoderFuzzTests {
    private func look(_ key: [UInt8], _ record: [UInt8], _ layout: RecordLayout) {
        _ = try? decode(Storage.Everything.self, key: key, record: record)
        key.withUnsafeBytes { key in
            record.withUnsafeBytes { record in
                _ = RecordView.hasValidChecksum(key: key, record: record)
                guard let view = try? RecordView(key: key, record: record, layout: layout) else { return }
                for position in layout.fields.indices {
                    _ = view.isNull(position)
                    _ = try? view.value(position)
                    _ = try? view.text(position)
                }
            }
        }
    }

    @Test func noTruncationAndNoFlipTraps() throws {
        var random = SeededGenerator()
        let layout = try layout(Storage.Everything.self)
        for id in 0..<3 {
            var object = Storage.Everything.random(id: id, using: &random)
            // Short texts: every byte of the record is tried.
            object.string = "text"
            object.strings = ["a", "", "ccc"]
            object.optionalStrings = ["a", nil]
            object.optionalString = nil
            object.nestedStrings = [[], ["x"]]
            object.nestedOptional = [nil, ["y", nil]]
            object.optionalStringArray = ["z"]
            object.label = Ref("l")
            object.references = [Ref("m")]
            object.data = Data([1])
            object.datas = [Data(), Data([2])]
            object.optionalData = nil
            object.bytes = [1, 2, 3]
            let (key, record) = try encode(object)
            #expect(try decode(Storage.Everything.self, key: key, record: record).fingerprint == object.fingerprint)
            for length in 0..<record.count {
                look(key, Array(record[..<length]), layout)
            }
            for offset in record.indices {
                for mask: UInt8 in [0x01, 0x80, 0xFF, UInt8.random(in: 1...255, using: &random)] {
                    var damaged = record
                    damaged[offset] ^= mask
                    look(key, damaged, layout)
                }
            }
            for length in 0...20 { look(random.bytes(length), record, layout) }
        }
    }

    @Test func everyFlipIsSeenByTheChecksum() throws {
        var random = SeededGenerator()
        let (key, record) = try encode(Storage.Note(id: 77, text: "some text"))
        for offset in record.indices {
            for bit in 0..<8 {
                var damaged = record
                damaged[offset] ^= 1 << bit
                key.withUnsafeBytes { key in
                    damaged.withUnsafeBytes { damaged in
                        #expect(!RecordView.hasValidChecksum(key: key, record: damaged))
                    }
                }
            }
        }
        _ = random.next()
    }

    @Test func randomBytesNeverTrap() throws {
        var random = SeededGenerator()
        let layout = try layout(Storage.Everything.self)
        let header = withUnsafeBytes(of: layout.header.word.littleEndian) { Array($0) }
        for round in 0..<3_000 {
            var bytes = random.bytes(Int.random(in: 0..<600, using: &random))
            if round % 2 == 0 {
                // Small numbers look like offsets.
                bytes = bytes.map { $0 & ($0 & 3 == 0 ? 0xFF : 0x01) }
            }
            look(random.bytes(round % 17), round % 3 == 0 ? bytes : header + bytes, layout)
            bytes.withUnsafeBytes { bytes in
                _ = History.decode(bytes)
                if let list = try? StoredList(bytes) {
                    for index in 0..<min(list.count, 50) { _ = try? list.element(index) }
                }
                _ = try? Catalog(bytes: bytes)
                _ = try? StoreHeader(Array(bytes), path: "")
                _ = try? [String?].load(bytes)
                _ = try? [[Int?]?].load(bytes)
                _ = try? [UUID].load(bytes)
            }
        }
    }

    @Test func historyEntriesNeverTrap() throws {
        var changes = EntityChanges(entity: 3, name: "x")
        changes.rows = [
            EntityChanges.Row(key: [1, 2, 3], kind: .inserted, fields: .none),
            EntityChanges.Row(key: [], kind: .updated, fields: ChangedFields([0, 2])),
            EntityChanges.Row(
                key: [UInt8](repeating: 7, count: 255), kind: .deleted, fields: .none),
        ]
        var many = EntityChanges(entity: 4, name: "y")
        many.isComplete = false
        let entry = History.encode(
            nonce: 1, origin: 2, changes: [changes, many], at: Date(timeIntervalSinceReferenceDate: 9))
        let decoded = try #require(entry.withUnsafeBytes { History.decode($0) })
        #expect(decoded.nonce == 1 && decoded.origin == 2 && decoded.time.timeIntervalSinceReferenceDate == 9)
        #expect(decoded.entities.map(\.entity) == [3, 4])
        #expect(decoded.entities[0].rows?.map(\.key) == changes.rows.map(\.key))
        #expect(decoded.entities[0].rows?.map(\.kind) == [.inserted, .updated, .deleted])
        #expect(decoded.entities[0].rows?.map(\.fields) == [.none, ChangedFields([0, 2]), .none])
        #expect(decoded.entities[1].rows == nil)
        for length in 0..<entry.count {
            #expect(entry[..<length].withUnsafeBytes { History.decode($0) } == nil)
        }
        for offset in entry.indices {
            for mask: UInt8 in [0x01, 0x80, 0xFF] {
                var damaged = entry
                damaged[offset] ^= mask
                _ = damaged.withUnsafeBytes { History.decode($0) }
            }
        }
    }

    @Test func catalogAndHeaderSeeEveryFlip() throws {
        var catalog = Catalog()
        _ = try catalog.register(try DeclaredEntity(Storage.Everything.self))
        _ = try catalog.register(try DeclaredEntity(Storage.Note.self))
        let bytes = try catalog.encoded()
        #expect(try bytes.withUnsafeBytes { try Catalog(bytes: $0) } == catalog)
        for length in stride(from: 0, to: bytes.count, by: 7) {
            #expect(code(failure(of: { try bytes[..<length].withUnsafeBytes { try Catalog(bytes: $0) } })) == .damaged)
        }
        for offset in stride(from: 0, to: bytes.count, by: 5) {
            var damaged = bytes
            damaged[offset] ^= 0x20
            #expect(code(failure(of: { try damaged.withUnsafeBytes { try Catalog(bytes: $0) } })) == .damaged)
        }

        let header = StoreHeader().bytes
        #expect(header.count == StoreHeader.size)
        #expect(try StoreHeader(header, path: "").bytes == header)
        for length in 0..<header.count {
            let expected: StoreError.Code = length < 8 ? .notAStore : .damaged
            #expect(code(failure(of: { try StoreHeader(Array(header[..<length]), path: "") })) == expected)
        }
        for offset in header.indices {
            for bit in 0..<8 {
                var damaged = header
                damaged[offset] ^= 1 << bit
                let expected: StoreError.Code = offset < 8 ? .notAStore : .damaged
                #expect(code(failure(of: { try StoreHeader(damaged, path: "") })) == expected)
            }
        }
    }

    @Test func fieldTypesAreReadFromAnyText() throws {
        var random = SeededGenerator()
        let pieces =
            FieldType.Scalar.allCases.map(\.rawValue) + ["[", "]", "?", "[]", "", " ", "é", "\u{301}", "]?", "[["]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0..<6, using: &random))
                .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
            if let type = FieldType(text) { #expect(type.description == text) }
        }
        for depth in [1, 2, 8] {
            let text = String(repeating: "[", count: depth) + "int8?" + String(repeating: "]", count: depth)
            #expect(FieldType(text)?.description == text)
        }
        let deep = String(repeating: "[", count: 200_000) + "int8" + String(repeating: "]", count: 200_000)
        #expect(FieldType(deep) == nil)
    }
}
