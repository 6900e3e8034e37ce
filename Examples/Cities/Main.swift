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
        let resolver = store.resolver(for: City.self)
        resolver.resolve([2_988_507, 1, 5_128_581, 1_850_147, 2, 2_950_159])
        for await cities in resolver.values {
            print(cities.map { "\($0.id) \($0.name)" }.joined(separator: " · "))
            break
        }
    }

    // MARK: Live

    /// A top ten that is followed while a task of this process and another process change it.
    private func liveTopTen(_ store: Store) async throws {
        title("The ten largest cities of the world, live")
        let observer = City.largest(10).makeObserver { $0 }
        var seen = 0
        let clock = ContinuousClock()
        var began = clock.now
        var before: [City] = []
        for try await cities in observer.values(store) {
            seen += 1
            switch seen {
            case 1:
                for (place, city) in cities.enumerated() { print("\(pad("\(place + 1).", 4))\(line(city))") }
                print("\nA task of this process makes Paris grow …")
                began = clock.now
                Task { try await Self.setPopulation(of: 2_988_507, to: 40_000_000, in: store) }
            case 2:
                report(cities, before, after: clock.now - began)
                print("\nAnother process makes Berlin grow …")
                try Self.runSecondProcess(on: place, id: 2_950_159)
                began = clock.now
            default:
                report(cities, before, after: nil)
                try await Self.setPopulation(of: 2_988_507, to: 2_138_551, in: store)
                try await Self.setPopulation(of: 2_950_159, to: 3_426_354, in: store)
                return
            }
            before = cities
        }
    }

    private func report(_ cities: [City], _ before: [City], after delay: Duration?) {
        let delayed = delay.map { ", \(milliseconds($0)) after the change was begun" } ?? ""
        print("… and a new list arrives\(delayed):")
        for (place, city) in cities.prefix(3).enumerated() {
            let mark = before.contains { $0.id == city.id } ? " " : "*"
            print("\(mark)\(pad("\(place + 1).", 3))\(line(city))")
        }
    }

    private static func setPopulation(of id: Int, to population: Int, in store: Store) async throws {
        try await store.write { tx in _ = try tx.update(City.self, id: id) { $0.population = population } }
    }

    private static func runSecondProcess(on place: URL, id: Int) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        #if canImport(Darwin)
            process.executableURL = Bundle.main.executableURL
        #endif
        process.arguments = ["--grow", place.path, "\(id)"]
        try process.run()
        process.waitUntilExit()
        print("(process \(process.processIdentifier) has committed and ended)")
    }

    /// What the second process does.
    private static func grow(_ path: String, id: Int) async throws {
        let store = try await Store.open(at: URL(fileURLWithPath: path, isDirectory: true), entities: City.self)
        try await setPopulation(of: id, to: 50_000_000, in: store)
    }

    // MARK: Output

    private func title(_ text: String) { print("\n— \(text)\n") }

    private func line(_ city: City) -> String {
        "\(pad(city.name, 24))\(city.country.id)  \(pad(grouped(city.population), -12))"
    }

    /// Pads to a width; a negative width pads on the left.
    private func pad(_ text: String, _ width: Int) -> String {
        let spaces = String(repeating: " ", count: max(0, abs(width) - text.count))
        return width < 0 ? spaces + text : text + spaces
    }

    private func grouped(_ number: Int) -> String {
        var digits = Array(String(number))
        var position = digits.count - 3
        while position > 0 {
            digits.insert(",", at: position)
            position -= 3
        }
        return String(digits)
    }

    private func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let tenths = seconds * 10_000 + attoseconds / 100_000_000_000_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
