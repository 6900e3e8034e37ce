// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// A tree that is emptied and filled again takes a page of the file each time, if its entry is deleted first: 100,000 updates
// in one transaction once made a file of 410 MB.
@Suite struct FileGrowthTests {
    @Entity struct Parcel: Equatable {
        var id: Int
        var weight: Int
        var label: String?
        var tags: [String]
        var stops: [Int?]
        static let indexes: [Index<Parcel>] = [
            Index(\.weight), Index(\.label, \.weight), Index(each: \.tags),
        ]

        static func number(_ number: Int, id: Int = 1) -> Parcel {
            Parcel(id: id, weight: number, label: "label \(number)", tags: ["tag \(number)"], stops: [number, nil])
        }
    }

    static let rounds = 3_000

    /// Asserts that `body`, in one transaction on a store with one parcel, leaves the file as small as it was.
    private func verifyNoGrowth(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: (borrowing WriteTransaction) throws -> Void
    ) throws {
        try Store.withTemporary(Parcel.self) { (store) throws in
            try store.write { tx in try tx.insert(Parcel.number(0)) }
            let before = try #require(store.engine.environment.sizes?.extent)
            try store.write { tx in try body(tx) }
            let after = try #require(store.engine.environment.sizes?.extent)
            // The transaction's own copies of the pages that it changes, the change records, and some to spare.
            #expect(after - before < 50 * 4_096, "\(before) to \(after) bytes", sourceLocation: sourceLocation)
            #expect(try store.count(FetchDescriptor<Parcel>()) == 1, sourceLocation: sourceLocation)
        }
    }

    @Test func updatingTheOnlyObjectsIndexedFields() throws {
        try verifyNoGrowth { tx in
            for number in 1...Self.rounds { try tx.update(Parcel.number(number)) }
        }
    }

    @Test func updatingByUpsertAndByClosure() throws {
        try verifyNoGrowth { tx in
            for number in 1...Self.rounds {
                try tx.upsert(Parcel.number(number))
                try tx.update(Parcel.self, id: 1) { $0 = .number(-number) }
            }
        }
    }

    @Test func deletingAndInsertingTheOnlyObject() throws {
        try verifyNoGrowth { tx in
            for number in 1...Self.rounds {
                try tx.delete(Parcel.self, id: 1)
                try tx.insert(Parcel.number(number))
            }
        }
    }

    @Test func deletingTheOnlyObjectAndInsertingAnother() throws {
        try verifyNoGrowth { tx in
            for number in 1...Self.rounds {
                try tx.delete(Parcel.self, id: number)
                try tx.insert(Parcel.number(number, id: number + 1))
            }
        }
    }

    @Test func commitsWithOneObjectEach() throws {
        try Store.withTemporary(Parcel.self) { (store) throws in
            var sizes: [Int] = []
            for round in 0..<4 {
                for number in 1...100 { try store.write { try $0.upsert(Parcel.number(round * 100 + number)) } }
                sizes.append(try #require(store.engine.environment.sizes?.extent))
            }
            // The history grows by its entries.
            #expect(sizes[3] - sizes[0] < 30 * 4_096, "\(sizes)")
        }
    }
}
