// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// An enum whose order is not the raw values' order.
enum Kind: Int, FieldValue, Comparable, CaseIterable {
    case mineral = 7
    case plant = -2
    case animal = 40
    case fungus = 3

    private var rank: Int {
        switch self {
        case .mineral: 0
        case .plant: 1
        case .fungus: 2
        case .animal: 3
        }
    }

    static func < (lhs: Kind, rhs: Kind) -> Bool { lhs.rank < rhs.rank }
}

/// An enum whose order is the raw values' order.
enum Grade: Int, FieldValue, RawValueOrdered, CaseIterable { case poor = -3, fair = 0, good = 2, fine = 9 }

@Entity struct Museum { var id: String; var city: String }

/// A field of every kind, and indexes of every kind.
@Entity struct Specimen {
    var id: Int
    var score: Int
    var rank: Int32?
    var serial: UInt64
    var weight: Double
    var ratio: Double?
    var tone: Float
    var isRare: Bool
    var isChecked: Bool?
    var name: String
    var note: String?
    var found: Date
    var seen: Date?
    var token: UUID
    var blob: Data
    var kind: Kind
    var grade: Grade
    var level: Grade?
    var museum: Ref<Museum>
    var parent: Ref<Specimen>?
    var tags: [String]
    var counts: [Int]
    var samples: [Double]
    var aliases: [String]?

    static let indexes: [Index<Specimen>] = [
        Index(\.score),
        Index(\.rank),
        Index(\.serial),
        Index(\.weight),
        Index(\.ratio),
        Index(\.tone),
        Index(\.name),
        Index(\.note),
        Index(\.found),
        Index(\.token),
        Index(\.blob),
        Index(\.kind),
        Index(\.grade),
        Index(\.level),
        Index(\.parent),
        Index(\.museum, \.score),
        Index(\.museum, \.weight, \.id),
        Index(\.isRare, \.weight),
        Index(\.isChecked, \.ratio),
        Index(\.kind, \.name),
        Index(\.note, \.rank),
        Index(each: \.tags),
        Index(each: \.counts),
        Index(each: \.samples),
    ]
}
