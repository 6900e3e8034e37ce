// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

/// An enum without an order of its own.
private enum Status: String, FieldValue, CaseIterable { case waiting, sent, received, lost }

private enum Urgency: Int, FieldValue { case low = 1, high = 9 }

private struct ShipmentID: RawRepresentable, EntityID { var rawValue: Int }

@Entity private struct Shipment {
    var id: ShipmentID
    var status: Status
    var urgency: Urgency?
    var sender: Ref<Station>?
    var weight: Int?
    var isInsured: Bool?

    static let indexes: [Index<Shipment>] = [
        Index(\.status.rawValue), Index(\.urgency), Index(\.sender), Index(\.weight), Index(\.isInsured),
    ]
}

/// What names a field by what it is stored as is served like the field itself.
@Suite("A raw value and the ID of an optional reference are their field") struct StoredSpellingTests {
    /// 1,000 shipments: 10 lost ones, 10 urgent ones, 10 by each of 50 senders, 10 with a weight, 10 insured.
    private func withShipments(_ body: (Store) throws -> Void) throws {
        try withTemporaryStore([Shipment.self, Station.self]) { store in
            try store.write { tx in
                for id in 0..<1_000 {
                    let isRare = id % 100 == 0
                    try tx.insert(
                        Shipment(
                            id: ShipmentID(rawValue: id), status: isRare ? .lost : Status.allCases[id % 3],
                            urgency: isRare ? .high : nil, sender: id % 2 == 0 ? Ref("s\(id / 2 % 50)") : nil,
                            weight: isRare ? id : nil, isInsured: isRare ? true : nil))
                }
            }
            try body(store)
        }
    }

    private func verify(
        _ predicate: Predicate<Shipment>? = nil, sort: [SortDescriptor<Shipment>] = [], limit: Int? = nil, plan: String,
        reads: Int, in store: Store, at location: SourceLocation = #_sourceLocation
    ) throws {
        var request = FetchDescriptor<Shipment>(predicate: predicate, sortBy: sort)
        request.fetchLimit = limit
        let explanation = try store.explain(request)
        #expect(explanation.plan == plan, sourceLocation: location)
        #expect(explanation.recordsRead == reads, sourceLocation: location)
        #expect(explanation.rows == reads, sourceLocation: location)
        // One is behind the end of a range.
        #expect(explanation.entriesVisited <= reads + 2, sourceLocation: location)
        if let predicate {
            let all = try store.fetch(FetchDescriptor<Shipment>())
            let wanted = try all.filter { try predicate.evaluate($0) }.map(\.id)
            #expect(try store.ids(request) == wanted, sourceLocation: location)
        }
    }

    @Test func anOptionalReferencesIDWasScannedFor() throws {
        let sender = "s7"
        let (few, missing): ([String?], String?) = (["s7", "s8"], nil)
        let scan = "index scan Shipment(sender), in"
        try withShipments { store in
            try verify(#Predicate { $0.sender?.id == sender }, plan: "\(scan) a range", reads: 10, in: store)
            try verify(#Predicate { sender == $0.sender?.id }, plan: "\(scan) a range", reads: 10, in: store)
            try verify(
                #Predicate { s in few.contains(s.sender.flatMap { r in r.id }) },
                plan: "\(scan) 2 ranges, sort in memory", reads: 20,
                in: store)
            try verify(
                #Predicate { $0.sender?.id == sender || $0.sender?.id == "s8" },
                plan: "\(scan) 2 ranges, sort in memory", reads: 20, in: store)
            try verify(
                #Predicate { ($0.sender?.id ?? "") == sender }, plan: "\(scan) a range", reads: 10, in: store)
            try verify(
                #Predicate { ($0.sender?.id ?? "") > "s9" }, plan: "\(scan) a range, sort in memory", reads: 0,
                in: store)
            try verify(
                #Predicate { if let sender = $0.sender { sender.id == "s7" } else { false } }, plan: "\(scan) a range",
                reads: 10, in: store)
            // The others are tested on records: no object is decoded.
            let filtered: [Predicate<Shipment>] = [
                #Predicate { $0.sender?.id != sender }, #Predicate { $0.sender?.id == missing },
                #Predicate { $0.sender?.id != nil }, #Predicate { ($0.sender?.id ?? sender) == sender },
            ]
            for predicate in filtered {
                let request = FetchDescriptor<Shipment>(predicate: predicate)
                #expect(try !store.explain(request).plan.contains("decoded"))
                let wanted = try store.fetch(FetchDescriptor<Shipment>()).filter { try predicate.evaluate($0) }.map(
                    \.id)
                #expect(try store.ids(request) == wanted)
            }
        }
    }

    @Test func valuesInPlaceOfNilWereScannedFor() throws {
        try withShipments { store in
            try verify(
                #Predicate { ($0.weight ?? 0) > 50 }, plan: "index scan Shipment(weight), in a range, sort in memory",
                reads: 9, in: store)
            try verify(
                #Predicate { ($0.urgency?.rawValue ?? 0) == 9 }, plan: "index scan Shipment(urgency), in a range",
                reads: 10, in: store)
            try verify(
                #Predicate { $0.isInsured ?? false }, plan: "index scan Shipment(isInsured), in a range", reads: 10,
                in: store)
        }
    }

    @Test func aRawValueWasScannedFor() throws {
        let (lost, some) = ("lost", ["lost", "found"])
        let scan = "index scan Shipment(status), in"
        try withShipments { store in
            try verify(#Predicate { $0.status.rawValue == lost }, plan: "\(scan) a range", reads: 10, in: store)
            try verify(
                #Predicate { $0.status.rawValue < "m" }, plan: "\(scan) a range, sort in memory", reads: 10, in: store)
            try verify(
                #Predicate { some.contains($0.status.rawValue) }, plan: "\(scan) 2 ranges, sort in memory", reads: 10,
                in: store)
            try verify(
                #Predicate { $0.urgency?.rawValue == 9 }, plan: "index scan Shipment(urgency), in a range", reads: 10,
                in: store)
            try verify(#Predicate { $0.id.rawValue == 77 }, plan: "lookup of 1 ID in Shipment", reads: 1, in: store)
            try verify(
                #Predicate { $0.id.rawValue >= 990 }, plan: "range of IDs in Shipment", reads: 10, in: store)
        }
    }

    @Test func sortsByARawValueReadEveryObject() throws {
        try withShipments { store in
            try verify(
                sort: [SortDescriptor(\.status.rawValue)], limit: 12, plan: "index scan Shipment(status), limit 12",
                reads: 12, in: store)
            try verify(
                sort: [SortDescriptor(\.id.rawValue, order: .reverse)], limit: 3,
                plan: "table scan of Shipment, backwards, limit 3", reads: 3, in: store)
            try verify(
                sort: [SortDescriptor(\.sender?.id, order: .reverse)], limit: 3,
                plan: "index scan Shipment(sender), backwards, limit 3", reads: 3, in: store)
            var request = FetchDescriptor<Shipment>(sortBy: [SortDescriptor(\.status.rawValue)])
            request.fetchLimit = 11
            #expect(
                try store.fetch(request).map(\.status.rawValue) == Array(repeating: "lost", count: 10) + ["received"])
        }
    }
}
