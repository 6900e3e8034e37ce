// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

@Entity struct Country: Codable {
    var id: String
    var name: String
    var capital: String?
    var continent: String
    var population: Int
    var areaKm2: Double
    var currency: String?
    var languages: [String]
    var neighbours: [Ref<Country>]
}

@Entity struct City: Codable {
    var id: Int
    var name: String
    var country: Ref<Country>
    var admin1: String?
    var population: Int
    var latitude: Double
    var longitude: Double
    var timezone: String
    var alternateNames: [String]

    static let indexes: [Index<City>] = [
        Index(\.country, \.population),  // a country's cities by size, in either direction
        Index(\.population),
        Index(each: \.alternateNames),  // one entry for each name
    ]

    /// The largest cities of a country.
    static func largest(in country: String, _ count: Int) -> FetchDescriptor<City> {
        var request = FetchDescriptor<City>(
            predicate: #Predicate { $0.country.id == country },
            sortBy: [SortDescriptor(\.population, order: .reverse)])
        request.fetchLimit = count
        return request
    }

    /// The largest cities of the world.
    static func largest(_ count: Int) -> FetchDescriptor<City> {
        var request = FetchDescriptor<City>(sortBy: [SortDescriptor(\.population, order: .reverse)])
        request.fetchLimit = count
        return request
    }

    /// Every city that has this name, in any language.
    static func named(_ name: String) -> FetchDescriptor<City> {
        FetchDescriptor(predicate: #Predicate { $0.alternateNames.contains(name) })
    }
}

/// Reads one JSON object a line.
func readLines<Value: Decodable>(_ type: Value.Type, from url: URL) throws -> [Value] {
    let decoder = JSONDecoder()
    return try Data(contentsOf: url).split(separator: UInt8(ascii: "\n")).map { line in
        try decoder.decode(type, from: Data(line))
    }
}
