// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport

extension Storage {
    enum Colour: String, FieldValue { case red, green, blue = "" }
    enum Level: Int16, FieldValue, RawValueOrdered { case low = -32_768, middle = 0, high = 32_767 }
    struct Badge: RawRepresentable, EntityID { var rawValue: UUID }

    /// A field of every type.
    @Entity struct Everything: Equatable {
        var id: Int
        var bool: Bool
        var int: Int
        var int8: Int8
        var int16: Int16
        var int32: Int32
        var int64: Int64
        var uint: UInt
        var uint8: UInt8
        var uint16: UInt16
        var uint32: UInt32
        var uint64: UInt64
        var float: Float
        var double: Double
        var date: Date
        var uuid: UUID
        var string: String
        var data: Data
        var colour: Storage.Colour
        var level: Storage.Level
        var label: Ref<Storage.Label>
        var note: Ref<Storage.Note>?
        var optionalBool: Bool?
        var optionalInt: Int?
        var optionalFloat: Float?
        var optionalDate: Date?
        var optionalUUID: UUID?
        var optionalString: String?
        var optionalData: Data?
        var optionalColour: Storage.Colour?
        var optionalLevel: Storage.Level?
        var ints: [Int]
        var bools: [Bool]
        var bytes: [UInt8]
        var doubles: [Double]
        var uuids: [UUID]
        var strings: [String]
        var datas: [Data]
        var levels: [Storage.Level]
        var colours: [Storage.Colour]
        var optionalInts: [Int?]
        var optionalStrings: [String?]
        var nested: [[Int16]]
        var nestedStrings: [[String]]
        var nestedOptional: [[String?]?]
        var optionalArray: [Int]?
        var optionalStringArray: [String]?
        var references: [Ref<Storage.Label>]
    }
}

extension Storage.Everything {
    /// A random object; values at the ends of their types are as likely as others.
    static func random(id: Int, using random: inout SeededGenerator) -> Self {
        func integer<T: FixedWidthInteger>(_: T.Type = T.self) -> T {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: T.min
            case 1: T.max
            case 2: 0
            default: T.random(in: T.min...T.max, using: &random)
            }
        }
        func string() -> String {
            let samples = [
                "", "\0", "a", "a\0b\u{1}c", "e\u{301}", "é", "\u{1112}\u{1161}\u{11AB}", "한", "👩‍👩‍👧", "\u{FFFD}",
                String(repeating: "long ", count: 3_000), "\u{10FFFF}",
            ]
            return samples[Int.random(in: 0..<samples.count, using: &random)]
        }
        func data() -> Data { Data(random.bytes([0, 1, 7, 8, 9, 700][Int.random(in: 0..<6, using: &random)])) }
        func double() -> Double {
            let special = [0, -0.0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .pi]
            return Bool.random(using: &random)
                ? special[Int.random(in: 0..<special.count, using: &random)] : Double(bitPattern: integer())
        }
        func float() -> Float { Float(bitPattern: integer()) }
        func date() -> Date { Date(timeIntervalSinceReferenceDate: double()) }
        func uuid() -> UUID {
            let bytes = random.bytes(16)
            return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }
        func colour() -> Storage.Colour { [.red, .green, .blue][Int.random(in: 0..<3, using: &random)] }
        func level() -> Storage.Level { [.low, .middle, .high][Int.random(in: 0..<3, using: &random)] }
        func maybe<T>(_ value: T) -> T? { Bool.random(using: &random) ? value : nil }
        func list<T>(_ element: () -> T) -> [T] { (0..<Int.random(in: 0..<4, using: &random)).map { _ in element() } }
        return Self(
            id: id, bool: Bool.random(using: &random), int: integer(), int8: integer(), int16: integer(),
            int32: integer(), int64: integer(), uint: integer(), uint8: integer(), uint16: integer(),
            uint32: integer(), uint64: integer(), float: float(), double: double(), date: date(), uuid: uuid(),
            string: string(), data: data(), colour: colour(), level: level(), label: Ref(string()),
            note: maybe(Ref(integer())), optionalBool: maybe(Bool.random(using: &random)),
            optionalInt: maybe(integer()), optionalFloat: maybe(float()), optionalDate: maybe(date()),
            optionalUUID: maybe(uuid()), optionalString: maybe(string()), optionalData: maybe(data()),
            optionalColour: maybe(colour()), optionalLevel: maybe(level()), ints: list { integer() },
            bools: list { Bool.random(using: &random) }, bytes: Array(data()), doubles: list { double() },
            uuids: list { uuid() }, strings: list { string() }, datas: list { data() }, levels: list { level() },
            colours: list { colour() }, optionalInts: list { maybe(integer()) },
            optionalStrings: list { maybe(string()) }, nested: list { list { integer() } },
            nestedStrings: list { list { string() } }, nestedOptional: list { maybe(list { maybe(string()) }) },
            optionalArray: maybe(list { integer() }), optionalStringArray: maybe(list { string() }),
            references: list { Ref(string()) })
    }

    /// Every bit of it as text, so that NaNs and spellings count: `==` overlooks both.
    var fingerprint: String {
        let mirror = Mirror(reflecting: self)
        return mirror.children.map { "\($0.label ?? "")=\(Self.spelled($0.value))" }.joined(separator: ";")
    }

    private static func spelled(_ value: Any) -> String {
        switch value {
        case let value as Double: return String(value.bitPattern, radix: 16)
        case let value as Float: return String(value.bitPattern, radix: 16)
        case let value as Date: return String(value.timeIntervalSinceReferenceDate.bitPattern, radix: 16)
        case let value as String: return "\(Array(value.unicodeScalars).map(\.value))"
        case let value as Ref<Storage.Label>: return spelled(value.id)
        case let value as Data: return "\(Array(value))"
        default: break
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { "some(\(spelled($0.value)))" } ?? "nil"
        case .collection: return "[\(mirror.children.map { spelled($0.value) }.joined(separator: ","))]"
        default: return "\(value)"
        }
    }
}

/// An object as it stands in a record, without a store.
func encode<T: Entity>(_ object: T, layout: UInt16 = 1) throws -> (key: [UInt8], record: [UInt8]) {
    var encoder = RecordEncoder()
    var result: (key: [UInt8], record: [UInt8]) = ([], [])
    try object.id.withKey { key in
        encoder.begin(T.recordShape, RecordHeader(layout: layout))
        object.encode(to: &encoder)
        encoder.seal(key: key)
        result = (Array(key), Array(encoder.record))
    }
    return result
}

func decode<T: Entity>(_: T.Type, key: [UInt8], record: [UInt8], layout: UInt16 = 1) throws -> T {
    try key.withUnsafeBytes { key in
        try record.withUnsafeBytes { record in
            var decoder = try RecordDecoder(
                key: key, record: record, shape: T.recordShape, header: RecordHeader(layout: layout))
            return try T(from: &decoder)
        }
    }
}

/// The layout that a catalog would make of the type.
func layout<T: Entity>(_ type: T.Type) throws -> RecordLayout {
    let schema = try DeclaredEntity(type)
    return RecordLayout(
        number: 1,
        fields: schema.fields.enumerated().map {
            ($0.offset + 1, $0.element.name, $0.element.type, $0.element.references)
        })
}
