// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// Hazard 23: a damaged record in the middle is an error that names it; no row behind it is given as if nothing were.
@Suite struct DamagedRecordTests {
    private func withDamage(
        _ damage: ([UInt8]) -> [UInt8], _ body: (Store) throws -> Void
    ) throws {
        try Store.withTemporary(Storage.Note.self) { store in
            try store.write { tx in
                for id in 0..<100 { try tx.insert(Storage.Note(id: id, text: "note \(id)")) }
            }
            try store.overwrite("Note", 50, with: damage(try #require(try store.record("Note", 50))))
            try body(store)
        }
    }

    private func names50(_ error: (any Error)?, field: String? = nil) -> Bool {
        guard let error = error as? StoreError else { return false }
        return error.code == .damaged && error.place.entity == "Note" && error.place.id == "50"
            && (field == nil || error.place.field == field) && error.message.contains("Note 50")
    }

    static let damages: [(name: String, change: @Sendable ([UInt8]) -> [UInt8])] = [
        ("empty", { _ in [] }),
        ("cut in the header", { Array($0[..<6]) }),
        ("cut in the text", { Array($0.dropLast(2)) }),
        ("another layout", { $0[..<2] + [9] + $0[3...] }),
        ("another format", { [7] + $0[1...] }),
        ("offset outside", { $0[..<9] + [0xFF, 0xFF, 0xFF, 0x7F] + $0[13...] }),
        ("not UTF-8", { $0[..<13] + [0xFF, 0xC0] + $0[15...] }),
        ("null text", { $0[..<8] + [0xFF] + $0[9...] }),
    ]

    @Test(arguments: 0..<8)
    func everyFormOfFetchThrows(_ number: Int) throws {
        let (name, change) = Self.damages[number]
        try withDamage(change) { store in
            let requests = [
                FetchDescriptor<Storage.Note>(),
                FetchDescriptor<Storage.Note>(sortBy: [SortDescriptor(\.id, order: .reverse)]),
                FetchDescriptor<Storage.Note>(sortBy: [SortDescriptor(\.text)]),
                FetchDescriptor<Storage.Note>(sortBy: [SortDescriptor(\.text, order: .reverse)]),
                FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.id >= 10 && $0.id < 90 }),
                FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text.contains("ote") }),
                FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text == "note 50" }),
                FetchDescriptor<Storage.Note>(predicate: #Predicate { [49, 50, 51].contains($0.id) }),
            ]
            for (position, request) in requests.enumerated() {
                #expect(names50(failure(of: { try store.fetch(request) })), "\(name), request \(position)")
                var seen: [Int] = []
                let error = failure { try store.read { tx in try tx.forEach(request) { seen.append($0.id) } } }
                #expect(names50(error), "\(name), request \(position)")
                // What came before the damage is a prefix of the order: nothing was left out.
                let order = try healthyOrder(request)
                #expect(seen == Array(order.prefix(seen.count)) && !seen.contains(50), "\(name), request \(position)")
            }
            #expect(names50(failure(of: { try store.get(Storage.Note.self, id: 50) })))
            #expect(names50(failure(of: { try store.get(Storage.Note.self, ids: [1, 50]) })))
            #expect(try store.get(Storage.Note.self, id: 51)?.text == "note 51")
            let others = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.id > 50 })
            #expect(try store.fetch(others).count == 49)
        }
    }

    /// The IDs that the request gives in a store without damage.
    private func healthyOrder(_ request: FetchDescriptor<Storage.Note>) throws -> [Int] {
        var ids: [Int] = []
        try withDamage({ $0 }) { ids = try $0.ids(request) }
        return ids
    }

    /// Damage that came later is told from a record that was written like this.
    @Test func theChecksumTellsWhenTheDamageCame() throws {
        for (name, change) in Self.damages {
            try withDamage(change) { store in
                let error = failure { try store.get(Storage.Note.self, id: 50) } as? StoreError
                #expect(error?.message.contains("its checksum is wrong") == true, "\(name)")
            }
        }
        let sealed: ([UInt8]) -> [UInt8] = { record in
            var record = Array(record[..<13] + [0xFF, 0xC0] + record[15...])
            let key = withUnsafeBytes(of: (UInt64(50) ^ 1 << 63).bigEndian) { Array($0) }
            let checksum = key.withUnsafeBytes { key in
                record.withUnsafeBytes { Checksum.ofRecord(key: key, record: $0) }
            }
            withUnsafeBytes(of: checksum.littleEndian) { record.replaceSubrange(4..<8, with: $0) }
            return record
        }
        try withDamage(sealed) { store in
            let error = failure { try store.get(Storage.Note.self, id: 50) } as? StoreError
            #expect(error?.message.contains("its checksum is right") == true)
        }
    }

    @Test func theFieldIsNamed() throws {
        try withDamage({ $0[..<13] + [0xFF, 0xC0] + $0[15...] }) { (store) throws in
            #expect(names50(failure(of: { try store.get(Storage.Note.self, id: 50) }), field: "text"))
        }
    }

    /// Whoever changes a part of a damaged object is told; the damage is not made worse, and others can be changed.
    @Test func changingADamagedObjectThrowsAndChangesNothing() throws {
        try withDamage({ Array($0[..<6]) }) { store in
            let before = try store.record("Note", 50)
            try store.write { tx in
                let error = failure { try tx.update(Storage.Note.self, id: 50) { $0.text = "new" } }
                #expect(names50(error))
                #expect(code(failure(of: { try tx.insert(Storage.Note(id: 50, text: "new")) })) == .alreadyExists)
                try tx.upsert(Storage.Note(id: 51, text: "new"))
            }
            #expect(try store.record("Note", 50) == before)
            #expect(try store.lastSequence() == 2)
        }
    }

    /// An entry that leads nowhere is an error, too, not a row less.
    @Test func aDanglingIndexEntryThrows() throws {
        try withDamage({ $0 }) { store in
            let state = try store.state("Note")
            try store.engine.environment.write { transaction in
                _ = try 50.withKey { try transaction.delete(state.records, key: $0) }
            }
            let byText = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text == "note 50" })
            let error = failure { try store.fetch(byText) } as? StoreError
            #expect(error?.code == .damaged && error?.place.entity == "Note")
        }
    }
}
