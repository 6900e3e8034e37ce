// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Roost

/// What the golden store holds. Nothing here may ever change.
enum Golden {
    enum Colour: String, FieldValue { case red, green }
    enum Level: Int16, FieldValue { case low = -1, high = 300 }

    @Entity struct Word: Equatable {
        var id: String
        var length: Int
    }

    @Entity struct Token: Equatable {
        var id: UUID
        var on: Bool
    }

    /// A field of every type, and more than 64 of them.
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
        var colour: Golden.Colour
        var level: Golden.Level
        var word: Ref<Golden.Word>
        var optionalBool: Bool?
        var optionalInt8: Int8?
        var optionalInt16: Int16?
        var optionalInt32: Int32?
        var optionalInt64: Int64?
        var optionalUInt8: UInt8?
        var optionalUInt16: UInt16?
        var optionalUInt32: UInt32?
        var optionalUInt64: UInt64?
        var optionalFloat: Float?
        var optionalDouble: Double?
        var optionalDate: Date?
        var optionalUUID: UUID?
        var optionalString: String?
        var optionalData: Data?
        var optionalToken: Ref<Golden.Token>?
        var bools: [Bool]
        var ints: [Int]
        var bytes: [UInt8]
        var doubles: [Double]
        var dates: [Date]
        var uuids: [UUID]
        var strings: [String]
        var datas: [Data]
        var optionalStrings: [String?]
        var nested: [[Int16]?]
        var optionalInts: [Int]?
        var n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, n16, n17, n18, n19, n20: Int8

        static let indexes: [Index<Everything>] = [
            Index(\.int), Index(\.string), Index(\.optionalDouble), Index(each: \.strings), Index(\.bool, \.int32),
        ]

        static func empty(id: Int) -> Everything {
            Everything(
                id: id, bool: false, int: 0, int8: 0, int16: 0, int32: 0, int64: 0, uint: 0, uint8: 0, uint16: 0,
                uint32: 0, uint64: 0, float: 0, double: 0, date: Date(timeIntervalSinceReferenceDate: 0),
                uuid: Golden.uuid, string: "", data: Data(), colour: .red, level: .low, word: Ref("apple"),
                optionalBool: nil, optionalInt8: nil, optionalInt16: nil, optionalInt32: nil, optionalInt64: nil,
                optionalUInt8: nil, optionalUInt16: nil, optionalUInt32: nil, optionalUInt64: nil, optionalFloat: nil,
                optionalDouble: nil, optionalDate: nil, optionalUUID: nil, optionalString: nil, optionalData: nil,
                optionalToken: nil, bools: [], ints: [], bytes: [], doubles: [], dates: [], uuids: [], strings: [],
                datas: [], optionalStrings: [], nested: [], optionalInts: nil, n1: 1, n2: 2, n3: 3, n4: 4, n5: 5, n6: 6,
                n7: 7, n8: 8, n9: 9, n10: 10, n11: 11, n12: 12, n13: 13, n14: 14, n15: 15, n16: 16, n17: 17, n18: 18,
                n19: 19, n20: 20)
        }
    }

    static let uuid = UUID(
        uuid: (0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E, 6, 0x5F))
    /// Longer than an index keeps.
    static let long = String(repeating: "long ", count: 60)

    static let words = [
        Word(id: "apple", length: 5), Word(id: "e\u{301}te\u{301}", length: 3), Word(id: "\u{D55C}", length: 1),
    ]

    static var first: Everything {
        var it = Everything.empty(id: 1)
        it.bool = true
        it.int = -5
        it.int8 = .min
        it.int16 = .max
        it.int32 = 7
        it.int64 = .min
        it.uint = 1
        it.uint8 = .max
        it.uint16 = 256
        it.uint32 = .max
        it.uint64 = .max
        it.float = -0.5
        it.double = .pi
        it.date = Date(timeIntervalSinceReferenceDate: 738_873_000.25)
        it.string = "e\u{301}"
        it.data = Data([0, 1, 255])
        it.colour = .green
        it.level = .high
        it.optionalBool = true
        it.optionalInt8 = -1
        it.optionalInt16 = -2
        it.optionalInt32 = -3
        it.optionalInt64 = -4
        it.optionalUInt8 = 1
        it.optionalUInt16 = 2
        it.optionalUInt32 = 3
        it.optionalUInt64 = 4
        it.optionalFloat = .infinity
        it.optionalDouble = -1
        it.optionalDate = Date(timeIntervalSinceReferenceDate: -1)
        it.optionalUUID = uuid
        it.optionalString = "a\0b\u{1}"
        it.optionalData = Data([1])
        it.optionalToken = Ref(uuid)
        it.bools = [true, false]
        it.ints = [1, -1]
        it.bytes = [1, 2, 3]
        it.doubles = [0.5]
        it.dates = [it.date]
        it.uuids = [uuid]
        it.strings = ["red", "old", "red"]
        it.datas = [Data(), Data([9])]
        it.optionalStrings = ["x", nil, ""]
        it.nested = [[1, 2], nil, []]
        it.optionalInts = []
        return it
    }

    static var second: Everything {
        var it = Everything.empty(id: 2)
        it.string = long
        it.strings = ["new"]
        return it
    }

    /// The indexes' entries, in hexadecimal.
    static let entries: [[String]] = [
        [
            "7ffffffffffffffb8000000000000001",
            "80000000000000008000000000000002",
        ],
        [
            "6c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e6720"
                + "6c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e6720"
                + "6c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e6720"
                + "6c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e6720"
                + "6c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f6e67206c6f01d755"
                + "af46650a7c258000000000000002",
            "c3a9008000000000000001",
        ],
        [
            "008000000000000002",
            "01400fffffffffffff8000000000000001",
        ],
        [
            "6e6577008000000000000002",
            "6f6c64008000000000000001",
            "726564008000000000000001",
        ],
        [
            "0080000000000000008000000000000002",
            "0180000000000000078000000000000001",
        ],
    ]
}
