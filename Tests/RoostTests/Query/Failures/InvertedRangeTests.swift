// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

@Suite("A range that ends before it begins is empty") struct InvertedRangeTests {
    private let low = 3
    private let high = 12

    @Test func ofCapturedValuesOnAnIndex() throws {
        let (low, high) = (low, high)
        try Reading.expectRows(of: #Predicate { (high...low).contains($0.value) }, { _ in false }) { _ in }
        try Reading.expectRows(of: #Predicate { (high..<low).contains($0.value) }, { _ in false }) { _ in }
    }

    @Test func ofCapturedValuesOnTheID() throws {
        let (low, high) = (low, high)
        try Reading.expectRows(of: #Predicate { (high...low).contains($0.id) }, { _ in false }) { _ in }
    }

    @Test func ofCapturedValuesAroundASum() throws {
        let (low, high) = (low, high)
        try Reading.expectRows(of: #Predicate { (high...low).contains($0.value + 1) }, { _ in false }) { _ in }
    }

    @Test func ofFields() throws {
        try Reading.expectRows(
            of: #Predicate { ($0.other...$0.value).contains($0.id % 4) },
            { $0.other <= $0.value && ($0.other...$0.value).contains($0.id % 4) }
        ) { $0.value = -1 }
    }

    @Test func ofFieldsHalfOpen() throws {
        try Reading.expectRows(
            of: #Predicate { ($0.value..<$0.other).contains($0.id) },
            { $0.value < $0.other && ($0.value..<$0.other).contains($0.id) }
        ) { ($0.value, $0.other) = (10, 20) }
    }

    @Test func itsNegationHoldsEverywhere() throws {
        let (low, high) = (low, high)
        try Reading.expectRows(of: #Predicate { !(high...low).contains($0.value) }, { _ in true }) { _ in }
    }

    /// The key of NaN stands above all others, so that an index would give everything from the lower bound on.
    @Test func aRangeUpToNaNIsEmptyOnAnIndexToo() throws {
        let (one, nan) = (1.0, Double.nan)
        try withTemporaryStore([Gauge.self]) { store in
            try store.write { tx in
                for id in 0..<400 { try tx.insert(Gauge(id: id, level: id == 0 ? .nan : Double(id))) }
            }
            let predicates: [Predicate<Gauge>] = [
                #Predicate { (one...nan).contains($0.level) }, #Predicate { (one..<nan).contains($0.level) },
                #Predicate { (nan...one).contains($0.level) }, #Predicate { (nan...nan).contains($0.level) },
            ]
            for predicate in predicates {
                var request = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.level)])
                #expect(try store.fetch(request).isEmpty)
                request.fetchLimit = 5
                #expect(try store.fetch(request).isEmpty)
            }
        }
    }
}

@Entity struct Gauge {
    var id: Int
    var level: Double
    static let indexes: [Index<Gauge>] = [Index(\.level)]
}
