// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import Testing

/// What is known of a kind of value is known in one place, its codec, and its parts agree with each other.
@Suite struct ScalarCodecTests {
    /// Values of each kind, ascending.
    private static let samples: [FieldType.Scalar: [any ScalarCodec]] = [
        .bool: [false, true],
        .int8: [Int8.min, -1, 0, 1, Int8.max] as [Int8],
        .int16: [Int16.min, -1, 0, 256, Int16.max] as [Int16],
        .int32: [Int32.min, -1, 0, 65_536, Int32.max] as [Int32],
        .int64: [Int64.min, -1, 0, 1 << 40, Int64.max] as [Int64],
        .uint8: [0, 1, 128, UInt8.max] as [UInt8],
        .uint16: [0, 256, UInt16.max] as [UInt16],
        .uint32: [0, 65_536, UInt32.max] as [UInt32],
        .uint64: [0, 1 << 40, UInt64.max] as [UInt64],
        .float: [-Float.infinity, -1.1, 0, Float.leastNonzeroMagnitude, 0.1, .infinity] as [Float],
        .double: [-Double.infinity, -1.1, 0, .leastNonzeroMagnitude, 0.1, .infinity] as [Double],
        .date: [-1e13, -0.1, 0, 700_000_000.123].map { Date(timeIntervalSinceReferenceDate: $0) },
        .uuid: ["00000000-0000-0000-0000-000000000001", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"].compactMap {
            UUID(uuidString: $0)
        },
        .string: ["", "a", "a\0b", "ab", "e\u{301}", "ö"],
        .data: [Data(), Data([0]), Data([0, 255]), Data([1])],
    ]

    private static func stored(_ value: any ScalarCodec) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: value.storedByteCount)
        bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { value.store(to: base) } }
        return bytes
    }

    @Test(arguments: FieldType.Scalar.allCases) func theCodecIsOfItsKind(_ kind: FieldType.Scalar) throws {
        #expect(kind.codec.fieldType == .scalar(kind))
        let samples = try #require(Self.samples[kind])
        for value in samples { #expect(type(of: value) == kind.codec) }
    }

    @Test(arguments: FieldType.Scalar.allCases) func whatIsPrintedIsReadAsTheSameValue(_ kind: FieldType.Scalar) throws
    {
        for value in try #require(Self.samples[kind]) {
            let read = try kind.codec.parse(value.printed)
            #expect(read.storedValue == value.storedValue, "\(kind): \(value.printed)")
        }
    }

    /// The comparison in place, the key, and the value that is made of the bytes.
    @Test(arguments: FieldType.Scalar.allCases) func bytesKeysAndValuesHaveOneOrder(_ kind: FieldType.Scalar) throws {
        let (codec, samples) = (kind.codec, try #require(Self.samples[kind]))
        let keys = samples.map { value in
            var key = KeyBytes()
            Self.stored(value).withUnsafeBytes { _ = codec.appendKey(stored: $0, to: &key, limit: 200) }
            if codec.keyWidth > 0 { #expect(key.count == codec.keyWidth) }
            return key.bytes
        }
        for (i, left) in samples.enumerated() {
            let bytes = Self.stored(left)
            if codec.storedWidth > 0 { #expect(bytes.count == codec.storedWidth) }
            #expect(try bytes.withUnsafeBytes { try codec.value(stored: $0) } == left.storedValue)
            for (j, right) in samples.enumerated() {
                let order = try bytes.withUnsafeBytes { try codec.order(stored: $0, right.storedValue) }
                #expect(order == StoredOrder.of(i, j), "\(kind): \(left.printed) and \(right.printed)")
                #expect(keys[i].lexicographicallyPrecedes(keys[j]) == (i < j))
            }
        }
    }

    @Test(arguments: FieldType.Scalar.allCases) func valuesOfAnotherKindAreUnordered(_ kind: FieldType.Scalar) throws {
        let value = try #require(Self.samples[kind]?.first)
        let others: [StoredValue] = [
            .null, .list([]), .bool(true), .int(1), .uint(1), .double(1), .text([1]), .bytes([1]), .uuid([1]),
        ]
        let bytes = Self.stored(value)
        let ordered = try others.filter { other in
            try bytes.withUnsafeBytes { try kind.codec.order(stored: $0, other) } != .unordered
        }
        #expect(ordered.count == 1)
    }

    /// Its key was loaded from beyond its end.
    @Test(arguments: FieldType.Scalar.allCases.filter { $0.codec.storedWidth > 0 })
    func elementOfAnotherWidthIsDamage(_ kind: FieldType.Scalar) throws {
        for count in [0, kind.codec.storedWidth - 1, kind.codec.storedWidth + 1] where count != kind.codec.storedWidth {
            let list = ["\u{1}" + String(repeating: "a", count: count)]
            var bytes = [UInt8](repeating: 0, count: list.storedByteCount)
            bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { list.store(to: base) } }
            #expect(throws: RecordFailure.truncated) {
                try bytes.withUnsafeBytes {
                    try RecordView.forEachElement($0, .array(.optional(.scalar(kind)))) { _, _ in }
                }
            }
        }
    }

    @Test(arguments: FieldType.Scalar.allCases) func keysOfIDsAreReadAsTheID(_ kind: FieldType.Scalar) throws {
        for value in try #require(Self.samples[kind]) {
            guard let id = value as? any EntityID, !type(of: id).isKeptInRecord else {
                #expect(throws: RecordFailure.self) { try [1].withUnsafeBytes { try kind.codec.read(key: $0) } }
                continue
            }
            #expect(try id.withKey { try kind.codec.read(key: $0).storedValue } == value.storedValue)
        }
    }
}
