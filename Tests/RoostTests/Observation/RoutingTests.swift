// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

@Entity private struct Meter: Equatable {
    var id: Int
    var place: String
    var level: Double
    var unit: String?
    var count: Int

    var isOdd: Bool { count % 2 != 0 }
}

/// Notes which rows it is told of.
private final class Witness: CommitSubscriber {
    let request: LoweredRequest
    let entity: StoredEntity
    let wantsImages = true
    /// By commit, the keys.
    private let told = Mutex<[(sequence: UInt64, keys: Set<[UInt8]>)]>([])

    init(_ request: FetchDescriptor<Meter>, _ store: Store) throws {
        let binding = try store.binding(of: Meter.self)
        entity = binding.entity
        self.request = try LoweredRequest(request, binding)
    }

    var interest: ChangeInterest { CommitFilter(entity: entity, request: request).interest }

    func receive(_ commit: CommitRecord) {
        var keys: Set<[UInt8]> = []
        for changes in commit.changes ?? [] where changes.entity == entity.number {
            for row in commit.rows(of: changes) { keys.insert(changes.rows[row].key) }
        }
        told.withLock { $0.append((commit.sequences.upperBound, keys)) }
    }

    var tellings: [(sequence: UInt64, keys: Set<[UInt8]>)] { told.withLock { $0 } }
    func forget() { told.withLock { $0 = [] } }
}

/// Subscribers are found by what has changed, not asked one by one.
struct RoutingTests {
    let folder = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: folder.url, options: .init(durability: .unsafe), entities: Meter.self, Land.self)
    }

    private func subscribe(_ predicate: Predicate<Meter>?) throws -> Witness {
        let witness = try Witness(FetchDescriptor(predicate: predicate), store)
        store.engine.bus.subscribe(witness)
        return witness
    }

    private func key(_ id: Int) -> [UInt8] { (try? id.withKey { Array($0) }) ?? [] }

    private func write(_ body: @Sendable (borrowing WriteTransaction) throws -> Void) throws {
        try store.write { tx in try body(tx) }
        store.engine.bus.drain()
    }

    @Test func onlyThoseAreToldWhoseFieldHadOrGetsTheirValue() throws {
        let (paris, rome) = ("Paris", "Rome")
        let inParis = try subscribe(#Predicate { $0.place == paris })
        let inRome = try subscribe(#Predicate { $0.place == rome && $0.level > 1 })
        let high = try subscribe(#Predicate { $0.level >= 10 && $0.level < 20 })
        let third = try subscribe(#Predicate { $0.id == 3 })
        let nothing = try subscribe(#Predicate { $0.unit == nil })
        let either = try subscribe(#Predicate { $0.place == rome || $0.count == 7 })
        let odd = try subscribe(#Predicate { $0.isOdd })
        func told() -> [[Int]] {
            [inParis, inRome, high, third, nothing, either, odd].map { witness in
                defer { witness.forget() }
                return (1...4).filter { id in witness.tellings.contains { $0.keys.contains(key(id)) } }
            }
        }
        try write { tx in
            try tx.insert(Meter(id: 1, place: "Paris", level: 10, unit: "m", count: 1))
            try tx.insert(Meter(id: 2, place: "Oslo", level: 20, unit: nil, count: 7))
        }
        #expect(told() == [[1], [], [1], [], [2], [2], [1, 2]])
        // From one value to another: both are told.
        try write { tx in _ = try tx.update(Meter.self, id: 1) { $0.place = "Rome" } }
        #expect(told() == [[1], [1], [1], [], [], [1], [1]])
        // A field that those who name another do not look at, on an object of theirs.
        try write { tx in _ = try tx.update(Meter.self, id: 2) { $0.level = 21 } }
        #expect(told() == [[], [], [], [], [2], [2], [2]])
        try write { tx in
            try tx.insert(Meter(id: 3, place: "Oslo", level: 19.9, unit: "m", count: 0))
            _ = try tx.delete(Meter.self, id: 1)
        }
        #expect(told() == [[], [1], [1, 3], [3], [], [1], [1, 3]])
        // Another entity.
        try write { tx in try tx.insert(Land(id: "IT", name: "Italy")) }
        #expect(told() == [[], [], [], [], [], [], []])
    }

    @Test func commitBesideTenThousandSubscribersAsksNoneOfThem() throws {
        var witnesses: [Witness] = []
        for number in 0..<10_000 {
            let name = "place \(number)"
            let low = Double(number)
            let high = low + 1
            switch number % 4 {
            case 0: witnesses.append(try subscribe(#Predicate { $0.place == name }))
            case 1: witnesses.append(try subscribe(#Predicate { $0.level >= low && $0.level < high }))
            case 2: witnesses.append(try subscribe(#Predicate { $0.id == number }))
            default: witnesses.append(try subscribe(#Predicate { $0.place.starts(with: name) && $0.count > 1 }))
            }
        }
        try write { tx in try tx.insert(Meter(id: 20_000, place: "elsewhere", level: -1, unit: nil, count: 5)) }
        #expect(witnesses.allSatisfy { $0.tellings.isEmpty })
        try write { tx in try tx.insert(Meter(id: 42, place: "place 40", level: 41.5, unit: nil, count: 5)) }
        #expect(witnesses.indices.filter { !witnesses[$0].tellings.isEmpty } == [40, 41, 42])
        for witness in witnesses { store.engine.bus.unsubscribe(witness) }
        #expect(!store.engine.bus.wantsImages)
    }

    /// Each commit woke the bus's thread, which cost the writer more than the look.
    @Test func commitThatConcernsNobodyDoesNotWakeTheBus() throws {
        let place = "Paris"
        let inParis = try subscribe(#Predicate { $0.place == place })
        let release = DispatchSemaphore(value: 0)
        #expect(store.engine.bus.thread.async { release.wait() })
        for id in 1...3 {
            try store.write { tx in try tx.insert(Meter(id: id, place: "Rome", level: 0, unit: nil, count: 0)) }
            #expect(store.engine.bus.delivered == UInt64(id))
        }
        // From one that does on, they wait for each other.
        try store.write { tx in try tx.insert(Meter(id: 4, place: "Paris", level: 0, unit: nil, count: 0)) }
        try store.write { tx in try tx.insert(Meter(id: 5, place: "Rome", level: 0, unit: nil, count: 0)) }
        #expect(store.engine.bus.delivered == 3)
        release.signal()
        store.engine.bus.drain()
        #expect(store.engine.bus.delivered == 5)
        #expect(inParis.tellings.map(\.sequence) == [4])
    }

    /// Whoever has to be told is told of that row; who is told by a value alone has it.
    @Test func nobodyIsForgottenWhoseResultChanges() throws {
        var generator = SeededGenerator()
        func text() -> String { ["a", "b", "ab", "é", "e\u{301}", ""].randomElement(using: &generator) ?? "" }
        func number() -> Double {
            [0, -0.0, 1, 2.5, -1, .infinity, -.infinity, .nan].randomElement(using: &generator) ?? 0
        }
        func predicate() -> Predicate<Meter> {
            let (one, other) = (text(), text())
            let (low, high) = (number(), number())
            let count = Int.random(in: 0..<4, using: &generator)
            let set = Set([text(), text()])
            switch Int.random(in: 0..<14, using: &generator) {
            case 0: return #Predicate { $0.place == one }
            case 1: return #Predicate { $0.level > low }
            case 2: return #Predicate { $0.level >= low && $0.level <= high }
            case 3: return #Predicate { $0.unit == nil }
            case 4: return #Predicate { $0.unit == one || $0.place == other }
            case 5: return #Predicate { set.contains($0.place) && $0.count == count }
            case 6: return #Predicate { $0.place.starts(with: one) }
            case 7: return #Predicate { !($0.place == one) }
            case 8: return #Predicate { $0.isOdd && $0.place == one }
            case 9: return #Predicate { $0.id == count || $0.id > count && $0.level < low }
            case 10: return #Predicate { 12 / $0.count > 3 && $0.place == one }
            case 11: return #Predicate { $0.place == one && 12 / $0.count > 3 }
            case 12: return #Predicate { ($0.place == one || $0.level == low) && $0.unit != nil }
            default: return #Predicate { $0.place > one && $0.place < other }
            }
        }
        let witnesses = try (0..<60).map { _ in try subscribe(predicate()) }
        let binding = try store.binding(of: Meter.self)
        let filters = witnesses.map { CommitFilter(entity: binding.entity, request: $0.request) }
        let everything = Everything(filters: filters)
        store.engine.bus.subscribe(everything)
        for _ in 0..<300 {
            try write { [seed = generator.next()] tx in
                var generator = SeededGenerator(seed: seed)
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    let id = Int.random(in: 0..<6, using: &generator)
                    if Int.random(in: 0..<3, using: &generator) == 0 {
                        _ = try tx.delete(Meter.self, id: id)
                        continue
                    }
                    let places = ["a", "b", "ab", "é", "e\u{301}", ""]
                    let levels: [Double] = [0, -0.0, 1, 2.5, -1, .infinity, -.infinity, .nan]
                    try tx.upsert(
                        Meter(
                            id: id, place: places.randomElement(using: &generator) ?? "",
                            level: levels.randomElement(using: &generator) ?? 0,
                            unit: Bool.random(using: &generator) ? nil : places.randomElement(using: &generator),
                            count: Int.random(in: 0..<4, using: &generator)))
                }
            }
        }
        var touched = 0
        for (number, witness) in witnesses.enumerated() {
            let told = Set(witness.tellings.map(\.sequence))
            let missed = everything.touching(number).subtracting(told)
            #expect(missed.isEmpty, "\(witness.request.filter) was not told of \(missed)")
            touched += everything.touching(number).count
        }
        #expect(touched > 1_000)
    }

    /// Asks every filter about all rows of every commit.
    private final class Everything: CommitSubscriber {
        let wantsImages = true
        let filters: [CommitFilter]
        private let touched: Mutex<[Set<UInt64>]>

        init(filters: [CommitFilter]) {
            self.filters = filters
            touched = Mutex(filters.map { _ in [] })
        }

        func receive(_ commit: CommitRecord) {
            for (number, filter) in filters.enumerated() {
                if case .none = filter.effect(of: commit) { continue }
                touched.withLock { _ = $0[number].insert(commit.sequences.upperBound) }
            }
        }

        func touching(_ number: Int) -> Set<UInt64> { touched.withLock { $0[number] } }
    }

    /// The commits of a burst concerned each of them, one by one, when a fetch was to come anyway.
    @Test func subscriberThatIsToFetchAnywayIsNotToldOfFurtherCommits() async throws {
        let binding = try store.binding(of: Meter.self)
        let filter = CommitFilter(
            entity: binding.entity, request: try LoweredRequest(FetchDescriptor<Meter>(), binding))
        let told = Counter()
        let subscription = try Subscription(store: store, wantsImages: true, interest: { filter.interest }) {
            told.increment()
            return filter.effect(of: $0)
        }
        defer { subscription.close() }
        func insert(_ ids: Range<Int>) throws {
            for id in ids {
                try write { tx in try tx.insert(Meter(id: id, place: "a", level: 0, unit: nil, count: 0)) }
            }
        }
        // Nothing was fetched yet.
        try insert(0..<5)
        #expect(told.value == 0)
        _ = try await subscription.refetch { tx, _ in try tx.count(FetchDescriptor<Meter>()) }
        try insert(5..<10)
        #expect(told.value == 1)
        #expect(try await subscription.refetch { tx, _ in try tx.count(FetchDescriptor<Meter>()) } == 10)
        try insert(10..<15)
        #expect(told.value == 2)
    }

    /// Records that were forgotten, and commits of which nothing is known.
    @Test func whereAValueIsNotKnownAllAreToldWhoNameTheField() throws {
        let place = "Paris"
        let inParis = try subscribe(#Predicate { $0.place == place })
        let third = try subscribe(#Predicate { $0.id == 3 })
        let entity = inParis.entity
        var changes = EntityChanges(entity: entity.number, name: entity.name)
        changes.rows = [
            .init(key: key(1), kind: .updated, fields: .any), .init(key: key(2), kind: .deleted, fields: .none),
        ]
        var routes = ChangeRoutes()
        #expect(routes.add(inParis) && routes.add(third) && !routes.add(third))
        func told(_ changes: [EntityChanges]?) -> [ObjectIdentifier: [Int: [Int]]] {
            let commit = CommitRecord(sequences: 1...1, isForeign: true, changes: changes)
            var found = ChangeRoutes.Found()
            routes.find(commit, in: &found)
            for changes in changes ?? [] { routes.find(0..<changes.rows.count, of: changes, in: &found) }
            return Dictionary(
                uniqueKeysWithValues: routes.subscribers(found).map { (ObjectIdentifier($0.subscriber), $0.rows) })
        }
        #expect(told([changes]) == [ObjectIdentifier(inParis): [:]])
        changes.rows.append(.init(key: key(3), kind: .deleted, fields: .none))
        #expect(told([changes]) == [ObjectIdentifier(inParis): [:], ObjectIdentifier(third): [entity.number: [2]]])
        changes.isComplete = false
        changes.rows = []
        #expect(told([changes]).count == 2)
        #expect(told(nil).count == 2)
        #expect(routes.remove(inParis) && routes.remove(third) && !routes.remove(third))
        #expect(routes.isEmpty && told(nil).isEmpty)
    }
}
