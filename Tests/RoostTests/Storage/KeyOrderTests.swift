// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// Hazard 19: keys compared as bytes are ordered as their values are. The values' order is written down here a second
// time, by the standard library's own comparisons.
@Suite struct KeyOrderTests {
    /// Every pair of values: the bytes' order is the order asked for.
    private func verify<Value: FieldValue>(
        _ values: [Value], _ scalar: FieldType.Scalar, precedes: (Value, Value) -> Bool,
        _ name: String = "\(Value.self)"
    ) {
        let keys = values.map { value in
            var key = KeyBytes()
            key.append(value.storedValue, limit: 200)
            return key.bytes
        }
        for (value, key) in zip(values, keys) {
            var stored = [UInt8](repeating: 0, count: value.storedByteCount)
            stored.withUnsafeMutableBytes { if let base = $0.baseAddress { value.store(to: base) } }
            var fromRecord = KeyBytes()
            stored.withUnsafeBytes { _ = fromRecord.append(stored: $0, scalar, limit: 200) }
            #expect(fromRecord.bytes == key, "\(name) \(value): a key from the record and one from the value")
        }
        for (left, leftKey) in zip(values, keys) {
            for (right, rightKey) in zip(values, keys) {
                let bytes = leftKey.lexicographicallyPrecedes(rightKey)
                #expect(bytes == precedes(left, right), "\(name): \(left) and \(right)")
            }
        }
    }

    private func integers<T: FixedWidthInteger & FieldValue>(
        _: T.Type, _ scalar: FieldType.Scalar, _ random: inout SeededGenerator
    ) {
        var values: [T] = [.min, .max, 0, 1, .max - 1, .min + 1, .max / 2]
        if T.isSigned { values.append(T(-1)) }
        for _ in 0..<60 { values.append(T.random(in: .min ... .max, using: &random)) }
        verify(values, scalar, precedes: <)
    }

    @Test func integersOfEveryWidth() {
        var random = SeededGenerator()
        integers(Int.self, .int64, &random)
        integers(Int8.self, .int8, &random)
        integers(Int16.self, .int16, &random)
        integers(Int32.self, .int32, &random)
        integers(Int64.self, .int64, &random)
        integers(UInt.self, .uint64, &random)
        integers(UInt8.self, .uint8, &random)
        integers(UInt16.self, .uint16, &random)
        integers(UInt32.self, .uint32, &random)
        integers(UInt64.self, .uint64, &random)
        verify([false, true], .bool, precedes: { !$0 && $1 })
    }

    /// NaN after everything, all NaNs alike, both zeros alike.
    private func numberPrecedes(_ a: Double, _ b: Double) -> Bool { a.isNaN ? false : b.isNaN ? true : a < b }

    @Test func floatingPoint() {
        var random = SeededGenerator()
        var doubles: [Double] = [
            0, -0.0, 1, -1, .infinity, -.infinity, .nan, -.nan, .signalingNaN, Double(nan: 7, signaling: false),
            .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
            .leastNormalMagnitude, .ulpOfOne, 0.1, -0.1,
        ]
        for _ in 0..<100 { doubles.append(Double(bitPattern: random.next())) }
        verify(doubles, .double, precedes: numberPrecedes)
        verify(doubles.map { Float($0) }, .float, precedes: { numberPrecedes(Double($0), Double($1)) })
        verify(
            doubles.map { Date(timeIntervalSinceReferenceDate: $0) }, .date,
            precedes: { numberPrecedes($0.timeIntervalSinceReferenceDate, $1.timeIntervalSinceReferenceDate) })
    }

    @Test func identifiersAndData() {
        var random = SeededGenerator()
        let uuids = (0..<60).map { _ in
            random.bytes(16).withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }
        verify(uuids, .uuid, precedes: { withBytes($0).lexicographicallyPrecedes(withBytes($1)) })
        var datas: [Data] = [
            Data(), Data([0]), Data([0, 0]), Data([1]), Data([0, 1]), Data([1, 0]), Data([2]), Data([255]),
        ]
        for _ in 0..<100 {
            let bytes = random.bytes(Int.random(in: 0..<6, using: &random)).map { $0 % 4 == 3 ? $0 : $0 % 4 }
            datas.append(Data(bytes))
        }
        verify(datas, .data, precedes: { $0.lexicographicallyPrecedes($1) })
    }

    private func withBytes(_ uuid: UUID) -> [UInt8] { withUnsafeBytes(of: uuid.uuid) { Array($0) } }

    private static let texts = [
        "", "\0", "\0\0", "\0\u{1}", "\u{1}", "\u{1}\0", "\u{2}", "a", "a\0", "a\0b", "a\u{1}", "a\u{1}b", "aa", "b",
        "z",
        "é", "e\u{301}", "e", "ez", "f", "한", "\u{1112}\u{1161}\u{11AB}", "ﬁ", "fi", "Å", "A\u{30A}", "\u{212B}",
        "\u{5D0}\u{332}", "\u{5D0}\u{332}\u{321}", "\u{5D0}\u{328}", "\u{FFFF}", "\u{10000}", "😀", "\u{10FFFF}",
    ]

    /// Foundation's composed form, which for these texts (no lone jamo) is NFC.
    private func textPrecedes(_ a: String, _ b: String) -> Bool {
        Array(a.precomposedStringWithCanonicalMapping.utf8)
            .lexicographicallyPrecedes(Array(b.precomposedStringWithCanonicalMapping.utf8))
    }

    @Test func text() {
        var random = SeededGenerator()
        var texts = Self.texts
        for _ in 0..<100 {
            texts.append((0..<3).map { _ in Self.texts[Int.random(in: 0..<Self.texts.count, using: &random)] }.joined())
        }
        verify(texts, .string, precedes: textPrecedes)
        // Equal keys are equal texts, by Swift's own equality.
        for left in texts {
            for right in texts {
                #expect((NormalizedText.bytes(of: left) == NormalizedText.bytes(of: right)) == (left == right))
            }
        }
    }

    enum Compound {
        @Entity struct Row {
            var id: Int
            var text: String?
            var number: Double?
            var flag: Bool
            var data: Data
            static let indexes: [Index<Row>] = [
                Index(\.text, \.number, \.flag), Index(\.data, \.text), Index(\.number, \.data),
            ]
        }
    }

    /// A compound index gives its rows in the order of the fields, nil first, ties by ID.
    @Test func compoundKeysWithOptionalParts() throws {
        var random = SeededGenerator()
        let numbers: [Double?] = [nil, 0, -0.0, .nan, 1, -.infinity, .infinity]
        let datas = [Data(), Data([0]), Data([0, 1]), Data([1]), Data([255])]
        let rows = (0..<300).map { id in
            Compound.Row(
                id: id, text: Bool.random(using: &random) ? Self.texts.randomElement(using: &random) : nil,
                number: numbers.randomElement(using: &random) ?? nil, flag: Bool.random(using: &random),
                data: datas.randomElement(using: &random) ?? Data())
        }
        func order<T>(_ a: T?, _ b: T?, _ precedes: (T, T) -> Bool) -> Int {
            guard let a else { return b == nil ? 0 : -1 }
            guard let b else { return 1 }
            return precedes(a, b) ? -1 : precedes(b, a) ? 1 : 0
        }
        func text(_ a: Compound.Row, _ b: Compound.Row) -> Int { order(a.text, b.text, textPrecedes) }
        func number(_ a: Compound.Row, _ b: Compound.Row) -> Int { order(a.number, b.number, numberPrecedes) }
        func flag(_ a: Compound.Row, _ b: Compound.Row) -> Int { order(a.flag, b.flag) { !$0 && $1 } }
        func data(_ a: Compound.Row, _ b: Compound.Row) -> Int {
            order(a.data, b.data) { $0.lexicographicallyPrecedes($1) }
        }
        let orders: [[(Compound.Row, Compound.Row) -> Int]] = [[text, number, flag], [data, text], [number, data]]
        try Store.withTemporary(Compound.Row.self) { store in
            try store.write { tx in try tx.insert(contentsOf: rows) }
            let state = try store.state("Row")
            for (index, criteria) in zip(state.indexes, orders) {
                let expected = rows.sorted { a, b in
                    for criterion in criteria {
                        let order = criterion(a, b)
                        if order != 0 { return order < 0 }
                    }
                    return a.id < b.id
                }
                var found: [Int] = []
                try store.engine.environment.read { transaction in
                    var cursor = try transaction.cursor(index.database)
                    var isFound = try cursor.first()
                    while isFound {
                        let id = try #require(index.id(inEntry: cursor.key, width: 8))
                        found.append(try Int.load(key: id))
                        isFound = try cursor.next()
                    }
                }
                #expect(found == expected.map(\.id), "\(index.name)")
            }
        }
    }

    /// An ID's key alone: the objects come in the order of their IDs.
    @Test func identifiersAsKeys() throws {
        var random = SeededGenerator()
        var ids: [Int] = [.min, .max, 0, -1, 1]
        for _ in 0..<50 { ids.append(Int(truncatingIfNeeded: random.next())) }
        try Store.withTemporary(Storage.Note.self, Storage.Label.self) { store in
            try store.write { tx in
                for id in Set(ids) { try tx.insert(Storage.Note(id: id, text: "t")) }
                for text in Set(Self.texts) { try tx.insert(Storage.Label(id: text, rank: nil)) }
            }
            #expect(try store.all(Storage.Note.self).map(\.id) == Set(ids).sorted())
            let labels = try store.all(Storage.Label.self).map(\.id)
            #expect(labels == Set(Self.texts).sorted(by: textPrecedes))
        }
    }
}
