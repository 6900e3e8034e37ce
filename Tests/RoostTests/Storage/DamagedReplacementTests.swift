// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostLMDB
import RoostTestSupport
import Testing

// An object whose record was damaged could once be neither deleted nor replaced.
@Suite struct DamagedReplacementTests {
    @Entity struct Parcel: Equatable {
        var id: Int
        var weight: Int
        var label: String
        var note: String?
        var tags: [String]
        var stops: [Int?]
        var code: Data
        static let indexes: [Index<Parcel>] = [
            Index(\.weight), Index(\.label), Index(\.note), Index(\.note, \.weight, \.label), Index(each: \.tags),
            Index(each: \.stops), Index(\.code), Index(\.weight, \.id),
        ]

        /// Some of its keys are cut.
        static func number(_ number: Int, id: Int) -> Parcel {
            let long = String(repeating: "long", count: 100)
            return Parcel(
                id: id, weight: number % 3, label: number % 2 == 0 ? long + "\(number)" : "label \(number)",
                note: number % 3 == 0 ? nil : "note \(number % 5)",
                tags: ["tag \(number)", "tag \(number % 4)", long, "tag \(number)"],
                stops: [number, nil, nil, number % 7], code: Data([0, 1, UInt8(number % 256)]))
        }
    }

    /// The same with IDs of any length, of which some end like others.
    @Entity struct Crate: Equatable {
        var id: String
        var weight: Int?
        var label: String
        var tags: [String]
        static let indexes: [Index<Crate>] = [Index(\.weight), Index(\.label, \.weight), Index(each: \.tags)]

        static func number(_ number: Int, id: String) -> Crate {
            Crate(
                id: id, weight: number % 2 == 0 ? nil : number, label: String(repeating: "ab", count: number % 200),
                tags: ["b", "ab", "\(number)"])
        }
    }

    /// Damages the object of `id`, changes it by `change`, and compares records and entries with those of a store that
    /// never saw damage.
    private func verify<T: Entity & Equatable>(
        _ objects: [T], id: T.ID, damage: ([UInt8]) -> [UInt8], _ what: String,
        change: (borrowing WriteTransaction) throws -> Void
    ) throws {
        try Store.withTemporary(T.self) { (healthy) throws in
            try healthy.write { tx in try tx.insert(contentsOf: objects) }
            try healthy.write { tx in try change(tx) }
            try Store.withTemporary(T.self) { (store) throws in
                try store.write { tx in try tx.insert(contentsOf: objects) }
                let record = try #require(try store.record(T.entityName, id))
                try store.overwrite(T.entityName, id, with: damage(record))
                try store.write { tx in try change(tx) }
                #expect(try store.all(T.self) == healthy.all(T.self), "\(what)")
                #expect(try store.indexEntries(T.entityName) == healthy.indexEntries(T.entityName), "\(what)")
                #expect(try store.lastSequence() == 2)
            }
        }
    }

    /// Unreadable in whole, in part, and readable but not what was written.
    static let damages: [(name: String, change: @Sendable ([UInt8]) -> [UInt8])] = [
        ("empty", { _ in [] }),
        ("cut in the header", { Array($0[..<6]) }),
        ("cut at its end", { Array($0.dropLast(30)) }),
        ("another layout", { $0[..<2] + [9] + $0[3...] }),
        ("zeros", { [UInt8](repeating: 0, count: $0.count) }),
        ("ones behind the header", { $0[..<8] + [UInt8](repeating: 0xFF, count: $0.count - 8) }),
        ("another value", { $0[..<9] + [$0[9] ^ 0x55] + $0[10...] }),
        ("null bits", { $0[..<8] + [$0[8] ^ 0b0000_1010] + $0[9...] }),
        ("another text", { $0.dropLast(1) + [($0.last ?? 0) ^ 1] }),
    ]

    @Test(arguments: 0..<9) func aDamagedObjectCanBeDeletedAndReplaced(_ number: Int) throws {
        let (name, damage) = Self.damages[number]
        let objects = (0..<20).map { Parcel.number($0, id: $0) }
        for id in [7, 0, 19].prefix(repetitions(1, thorough: 3)) {
            try verify(objects, id: id, damage: damage, "\(name): delete \(id)") { (tx) throws in
                #expect(try tx.delete(Parcel.self, id: id))
            }
            try verify(objects, id: id, damage: damage, "\(name): upsert \(id)") { (tx) throws in
                try tx.upsert(Parcel.number(id + 100, id: id))
            }
            try verify(objects, id: id, damage: damage, "\(name): update \(id)") { (tx) throws in
                try tx.update(Parcel.number(id + 101, id: id))
            }
            try verify(objects, id: id, damage: damage, "\(name): upsert \(id) as it was") { (tx) throws in
                try tx.upsert(objects[id])
                try tx.upsert(Parcel.number(50, id: 50))
            }
        }
    }

    @Test(arguments: 0..<9) func aDamagedObjectWithATextIDAsWell(_ number: Int) throws {
        let (name, damage) = Self.damages[number]
        let ids = ["b", "ab", "", "aab", "b\0", "\0b", "tag", "é"]
        let objects = ids.enumerated().map { Crate.number($0.offset + 95, id: $0.element) }
        for id in ids.prefix(repetitions(2, thorough: ids.count)) {
            try verify(objects, id: id, damage: damage, "\(name): delete \(id)") { (tx) throws in
                #expect(try tx.delete(Crate.self, id: id))
            }
            try verify(objects, id: id, damage: damage, "\(name): upsert \(id)") { (tx) throws in
                try tx.upsert(Crate.number(7, id: id))
            }
        }
    }

    @Test func theErrorOfReadingSaysWhatToDo() throws {
        try Store.withTemporary(Parcel.self) { (store) throws in
            try store.write { tx in try tx.insert(Parcel.number(1, id: 1)) }
            try store.overwrite("Parcel", 1, with: [1, 2, 3])
            let error = failure { try store.get(Parcel.self, id: 1) } as? StoreError
            #expect(error?.message.contains("Delete or replace the object") == true)
            // A change of the object as it is has nothing to start from.
            let update = failure { try store.write { tx in try tx.update(Parcel.self, id: 1) { $0.weight = 2 } } }
            #expect(code(update) == .damaged)
        }
    }
}
