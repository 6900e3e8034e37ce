// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

/// A part of a predicate that does not depend on the object was evaluated on every object, and no index served it.
@Suite("What does not depend on the object is computed once") struct ConstantTests {
    private struct Wanted: Codable, Sendable {
        var number = 700
        var remark: String?
        var numbers = [1, 2]
        var range = 10..<20
        var prefix = "n012"
        var isOn = true
    }

    private func expect(
        _ plan: String, _ rows: Int, _ predicate: Predicate<Sighting>, at location: SourceLocation = #_sourceLocation
    ) throws {
        try Sighting.withStore { store in
            let explanation = try store.explain(FetchDescriptor(predicate: predicate))
            #expect(explanation.plan == plan, sourceLocation: location)
            #expect(explanation.rows == rows, sourceLocation: location)
        }
    }

    @Test func negativeLiterals() throws {
        try expect("lookup of 1 ID in Sighting", 0, #Predicate { $0.id == -1 })
        try expect("index scan Sighting(number), in a range, sort in memory", 0, #Predicate { $0.number < -1 })
    }

    @Test func sums() throws {
        let half = 350
        try expect("index scan Sighting(number), in a range", 1, #Predicate { $0.number == half * 2 })
    }

    @Test func propertiesOfCapturedValues() throws {
        let wanted = Wanted()
        try expect("index scan Sighting(number), in a range", 1, #Predicate { $0.number == wanted.number })
        try expect("table scan of Sighting, filter on records", 2_970, #Predicate { $0.remark == wanted.remark })
        try expect(
            "index scan Sighting(number), in 2 ranges, sort in memory", 2,
            #Predicate { wanted.numbers.contains($0.number) })
        try expect(
            "index scan Sighting(number), in a range, sort in memory", 10,
            #Predicate { wanted.range.contains($0.number) })
        try expect(
            "index scan Sighting(name), in a range, filter on records, sort in memory", 10,
            #Predicate { $0.name.starts(with: wanted.prefix) })
        try expect(
            "index scan Sighting(number), in a range", 1, #Predicate { wanted.isOn && $0.number == wanted.number })
    }

    @Test func comparisonsOfCapturedValues() throws {
        let (one, two) = (1, 2)
        try expect("index scan Sighting(number), in a range", 1, #Predicate { one < two && $0.number == two })
        try expect("nothing: the predicate excludes every object", 0, #Predicate { one > two && $0.number == two })
    }

    /// Computed once or not, it fails only where an object is asked.
    @Test func aConstantThatFailsFailsOnTheObjects() throws {
        let zero = 0
        let predicate = #Predicate<Station> { $0.id == "" || 1 / zero == 1 }
        try withTemporaryStore([Station.self]) { store in
            #expect(try store.fetch(FetchDescriptor(predicate: predicate)).isEmpty)
            try store.write { tx in try tx.insert(Station(id: "")) }
            #expect(try store.fetch(FetchDescriptor(predicate: predicate)).count == 1)
            try store.write { tx in try tx.insert(Station(id: "s")) }
            #expect(throws: StoreError.self) { try store.fetch(FetchDescriptor(predicate: predicate)) }
        }
    }
}
