// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// Roost's main job, on real data: import, ask, resolve, and watch the answers change.
///
///     roost-demo DATA-DIRECTORY STORE
///
/// It runs itself a second time, as another process, to change the store behind its own back.
@main
struct Demo {
    static func main() async {
        let arguments = CommandLine.arguments
        do {
            switch arguments.count {
            case 3: try await Demo(data: arguments[1], store: arguments[2]).run()
            case 4 where arguments[1] == "--grow": try await grow(arguments[2], id: Int(arguments[3]) ?? 0)
            default:
                print("usage: roost-demo DATA-DIRECTORY STORE")
                exit(2)
            }
        } catch {
            print("roost-demo: \(error)")
            exit(1)
        }
    }

    let data: URL
    let place: URL

    init(data: String, store: String) {
        self.data = URL(fileURLWithPath: data, isDirectory: true)
        place = URL(fileURLWithPath: store, isDirectory: true)
    }

    func run() async throws {
        let store = try await Store.open(at: place, entities: City.self, Country.self)
        try await importAll(into: store)
        try await largestCities(store)
        try await alternateName(store)
        try await resolve(store)
        try await liveTopTen(store)
        try await liveCounts(store)
        try await pausedSearch(store)
        try await close(store)
        print("\nThe store stays at \(place.path); `roost info` and `roost query` look into it.")
    }

    /// The synchronous form: nothing else runs any more.
    private func close(_ store: Store) async throws { try store.close() }

    // MARK: Import

    private func importAll(into store: Store) async throws {
        title("Import")
        let countries = try readLines(Country.self, from: data.appendingPathComponent("countries.jsonl"))
        let cities = try readLines(City.self, from: data.appendingPathComponent("cities.jsonl"))
        let clock = ContinuousClock()
        let duration = try await clock.measure {
            try await store.write { tx in
                try tx.upsert(contentsOf: countries)
                try tx.upsert(contentsOf: cities)
            }
        }
        let names = cities.reduce(0) { $0 + $1.alternateNames.count }
        print("\(countries.count) countries and \(cities.count) cities with \(names) names, three indexes,")
        print("one durable transaction: \(milliseconds(duration)).")
    }

    // MARK: Questions

    private func largestCities(_ store: Store) async throws {
        title("The largest cities of France, by the index (country, population), backwards")
        let request = City.largest(in: "FR", 8)
        for city in try await store.fetch(request) { print(line(city)) }
        print(try await request.explain(in: store))
    }

    private func alternateName(_ store: Store) async throws {
        for name in ["Колумбус", "Nova Iorque", "東京"] {
            let request = City.named(name)
            guard let city = try await request.first(in: store) else { continue }
            title("Which city is called “\(name)”?")
            let country = try await store.get(Country.self, id: city.country.id)
            print("\(city.name), \(country?.name ?? "?"), \(grouped(city.population)) inhabitants.")
            print(try await request.explain(in: store))
        }
    }

    private func resolve(_ store: Store) async throws {
        title("A list of IDs, resolved in its own order; two of them do not exist")
        let resolver = try store.resolver(for: City.self)
        resolver.resolve([2_988_507, 1, 5_128_581, 1_850_147, 2, 2_950_159])
        for await cities in resolver.values {
            print(cities.map { "\($0.id) \($0.name)" }.joined(separator: " · "))
            break
        }
    }

    // MARK: Output

    func title(_ text: String) { print("\n— \(text)\n") }

    func line(_ city: City) -> String {
        "\(pad(city.name, 24))\(city.country.id)  \(pad(grouped(city.population), -12))"
    }

    /// Pads to a width; a negative width pads on the left.
    func pad(_ text: String, _ width: Int) -> String {
        let spaces = String(repeating: " ", count: max(0, abs(width) - text.count))
        return width < 0 ? spaces + text : text + spaces
    }

    func grouped(_ number: Int) -> String {
        var digits = Array(String(number))
        var position = digits.count - 3
        while position > 0 {
            digits.insert(",", at: position)
            position -= 3
        }
        return String(digits)
    }

    func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let tenths = seconds * 10_000 + attoseconds / 100_000_000_000_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
