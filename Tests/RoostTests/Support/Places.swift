// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Roost

@Entity struct Land: Equatable {
    var id: String
    var name: String
}

@Entity struct Town: Equatable {
    var id: Int
    var name: String
    var land: Ref<Land>
    var population: Int
    var alternateNames: [String] = []

    static let indexes: [Index<Town>] = [
        Index(\.land, \.population), Index(\.name), Index(each: \.alternateNames),
    ]

    static func inLand(_ id: String) -> FetchDescriptor<Town> {
        FetchDescriptor(predicate: #Predicate { $0.land.id == id })
    }
}
