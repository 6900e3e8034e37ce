// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// Answers that follow the changes, and what following them costs.
extension Demo {
    private static let paris = 2_988_507
    private static let berlin = 2_950_159

    /// A top ten that is followed while a task of this process and another process change it.
    func liveTopTen(_ store: Store) async throws {
        title("The ten largest cities of the world, live")
        let values = City.largest(10).makeLiveObserver().values(store)
        var results = values.makeAsyncIterator()
        guard let first = try await results.next() else { return }
        for (place, city) in first.objects.enumerated() { print("\(pad("\(place + 1).", 4))\(line(city))") }

        let hamlet = try await Self.hamlet(of: store)
        print("\nA hamlet gains an inhabitant, which does not concern the list; then Paris grows …")
        var before = store.readCounters
        let clock = ContinuousClock()
        let began = clock.now
        try await Self.change(hamlet, in: store) { $0.population += 1 }
        try await Self.change(Self.paris, in: store) { $0.population = 40_000_000 }
        guard let second = try await results.next() else { return }
        report(second, ", \(milliseconds(clock.now - began)) after the first change was begun")
        print("Read for it: \(store.readCounters - before).")

        print("\nAnother process makes Berlin grow …")
        var commits = store.commits().makeAsyncIterator()
        before = store.readCounters
        try Self.runSecondProcess(on: place, id: Self.berlin)
        if let commit = await commits.next(), let changes = try commit.changes(of: City.self) {
            let fields = changes.updatedFields[Self.berlin]?.sorted().joined(separator: ", ") ?? "nothing"
            print("(it is \(commit.origin), its commit \(commit.sequence) updated \(changes.updated): \(fields))")
        }
        guard let third = try await results.next() else { return }
        report(third, "")
        print("Read for it: \(store.readCounters - before).")
        let cost = values.statistics
        print("\nThe list was fetched \(cost.fetches) time, for its first value; \(cost.fallBacks) times since.")

        try await Self.change(Self.paris, in: store) { $0.population = 2_138_551 }
        try await Self.change(Self.berlin, in: store) { $0.population = 3_426_354 }
    }

    /// What a list view would do with the difference, and the rows that it shows first.
    private func report(_ result: LiveResult<City>, _ delay: String) {
        let difference = result.difference
        print("… and a new list arrives\(delay):")
        for place in difference.removes { print("   take out row \(place + 1)") }
        for place in difference.inserts { print("   put in row \(place + 1), \(result.objects[place].name)") }
        for move in difference.moves {
            print("   move row \(move.from + 1) to \(move.to + 1), \(result.objects[move.to].name)")
        }
        for (place, city) in result.objects.prefix(3).enumerated() {
            let isNew = difference.inserts.contains(place) || difference.moves.contains { $0.to == place }
            print("\(isNew ? "*" : " ")\(pad("\(place + 1).", 3))\(line(city))")
        }
    }

    /// How many cities each country has, kept up to date by what commits say of the cities that they change.
    func liveCounts(_ store: Store) async throws {
        title("How many cities each country has, live")
        let values = FetchDescriptor<City>().makeCountsObserver(by: \.country).values(store)
        var counts = values.makeAsyncIterator()
        guard let first = try await counts.next() else { return }
        let iceland = Ref<Country>("IS")
        let all = first.values.reduce(0, +)
        print("\(all) cities in \(first.count) countries, \(first[iceland] ?? 0) of them in Iceland.")

        let before = store.readCounters
        let town = City(
            id: 4_000_000_000, name: "Nýborg", country: iceland, admin1: nil, population: 1, latitude: 64.8,
            longitude: -18.4, timezone: "Atlantic/Reykjavik", alternateNames: [])
        try await store.write { tx in try tx.insert(town) }
        guard let second = try await counts.next() else { return }
        print("A town is founded: \(second[iceland] ?? 0) in Iceland. Read for it: \(store.readCounters - before).")
        try await store.write { tx in _ = try tx.delete(City.self, id: town.id) }
        guard let third = try await counts.next() else { return }
        print("It is given up: \(third[iceland] ?? 0) again. Read for both: \(store.readCounters - before).")
    }

    /// An observation that is paused while nobody looks, and asked for something else.
    func pausedSearch(_ store: Store) async throws {
        title("A search that is paused while nobody looks, and then goes on")
        let search = try City.largest(in: "FR", 3).makeObserver { $0.map(\.name).joined(separator: ", ") }.start(
            in: store)
        var found = search.values.makeAsyncIterator()
        print("France: \(try await found.next() ?? "")")
        search.isPaused = true
        let before = store.readCounters
        for population in 1...100 {
            try await Self.change(Self.paris, in: store) { $0.population += population }
        }
        let fetches = store.readCounters - before
        print("Paused during 100 changes of Paris: \(fetches).")
        search.isPaused = false
        print("Then one value for all of them: \(try await found.next() ?? "")")
        try search.replaceRequest(City.largest(in: "JP", 3))
        print("Asked for Japan: \(try await found.next() ?? "")")
        search.stop()
        try await Self.change(Self.paris, in: store) { $0.population -= 5_050 }
    }

    // MARK: Changes

    private static func hamlet(of store: Store) async throws -> Int {
        var request = FetchDescriptor<City>(sortBy: [SortDescriptor(\.population)])
        request.fetchLimit = 1
        return try await store.fetch(request).first?.id ?? paris
    }

    private static func change(
        _ id: Int, in store: Store, _ change: @escaping @Sendable (inout City) -> Void
    ) async throws {
        try await store.write { tx in _ = try tx.update(City.self, id: id) { change(&$0) } }
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
    static func grow(_ path: String, id: Int) async throws {
        let store = try await Store.open(at: URL(fileURLWithPath: path, isDirectory: true), entities: City.self)
        try await change(id, in: store) { $0.population = 50_000_000 }
    }
}
