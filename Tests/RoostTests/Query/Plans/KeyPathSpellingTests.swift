// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

/// A repository that knows no concrete entity.
private struct Repository<T: Entity> {
    let store: Store

    func request(id: T.ID) -> FetchDescriptor<T> {
        FetchDescriptor(predicate: #Predicate { $0.id == id })
    }

    func request(ids: Set<T.ID>, newestFirst: Bool = false) -> FetchDescriptor<T> {
        FetchDescriptor(predicate: #Predicate { ids.contains($0.id) })
    }

    func find(id: T.ID) throws -> T? { try store.first(request(id: id)) }
}

@Suite("A field is found by every spelling of its key path") struct KeyPathSpellingTests {
    @Test func genericLookupsStayLookups() throws {
        try Sighting.withStore { store in
            let sightings = Repository<Sighting>(store: store)
            #expect(try sightings.find(id: 12)?.name == "n0012")
            #expect(try sightings.find(id: -12) == nil)
            let explanation = try store.explain(sightings.request(id: 12))
            #expect(explanation.plan == "lookup of 1 ID in Sighting")
            #expect(explanation.recordsRead == 1)
            #expect(try store.explain(sightings.request(ids: [1, 2])).plan == "lookup of 2 IDs in Sighting")

            try store.write { tx in for number in 0..<100 { try tx.insert(Station(id: "s\(number)")) } }
            let stations = Repository<Station>(store: store)
            #expect(try stations.find(id: "s1") != nil)
            #expect(try store.explain(stations.request(id: "s1")).plan == "lookup of 1 ID in Station")
        }
    }

    @Test func genericSortsByIDKeepTheOrderOfTheTable() throws {
        func last<T: Entity>(_ type: T.Type, _ store: Store) throws -> Explanation where T.ID: Comparable {
            var request = FetchDescriptor<T>(sortBy: [SortDescriptor(\.id, order: .reverse)])
            request.fetchLimit = 1
            return try store.explain(request)
        }
        try Sighting.withStore { store in
            let explanation = try last(Sighting.self, store)
            #expect(explanation.plan == "table scan of Sighting, backwards, limit 1")
            #expect(explanation.recordsRead == 1)
        }
    }

    @Test func aReferenceAndItsIDAreOneField() throws {
        let station = Ref<Station>("s7")
        try Sighting.withStore { store in
            let requests: [FetchDescriptor<Sighting>] = [
                FetchDescriptor(predicate: #Predicate { $0.station.id == "s7" }),
                FetchDescriptor(predicate: #Predicate { $0.station == station }),
            ]
            for request in requests {
                let explanation = try store.explain(request)
                #expect(explanation.plan == "index scan Sighting(station, number), in a range, sort in memory")
                #expect(explanation.recordsRead == 60)
                #expect(explanation.rows == 60)
            }
        }
    }
}
