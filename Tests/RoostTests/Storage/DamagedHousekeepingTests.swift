// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostLMDB
import RoostTestSupport
import Testing

/// Bytes FF in the housekeeping entries used to end the process: sums of what was read overflowed.
@Suite struct DamagedHousekeepingTests {
    private static let wrong: [[UInt8]] = [
        [UInt8](repeating: 0xFF, count: 8), [UInt8](repeating: 0xFF, count: 16),
        [0xFE] + [UInt8](repeating: 0xFF, count: 7),
        [], [0xFF], [1, 0, 0, 0, 0, 0, 0], [UInt8](repeating: 0, count: 9), [UInt8](repeating: 0, count: 15),
        [UInt8](repeating: 0xFF, count: 300), [0, 0, 0, 0, 0, 0, 0, 0x80], [1, 0, 0, 0, 0, 0, 0, 0x7F],
    ]

    /// The entries by name, and what does not get past each.
    private static let entries: [(key: MainDatabase.Key, name: String, stops: Set<Step>)] = [
        (.sequence, "!sequence", [.open, .write, .sequence, .observe]),
        (.generation, "!generation", [.open, .read, .write, .sequence, .observe]),
        (.historySize, "!history", [.write]),
        (.nextID(of: 1), "!next/1", [.nextID]),
        (.inexactKeys(of: 2), "!inexact/2", [.sort, .cut]),
    ]

    private enum Step: CaseIterable { case read, write, sequence, observe, nextID, sort, cut, open }

    private static func take(_ step: Step, _ path: String, _ store: Store) async throws {
        switch step {
        case .open:
            try await Task { try Store.open(path, Storage.Note.self).close() }.value
        case .read: _ = try read(store) { tx in try tx.fetch(FetchDescriptor<Storage.Note>()) }
        case .write:
            try write(store) { tx in try tx.upsert(Storage.Note(id: 1, text: "x\(Int.random(in: 0 ... .max))")) }
        case .sequence: _ = try read(store) { tx in try tx.sequence() }
        case .observe:
            var values = FetchDescriptor<Storage.Note>().makeObserver { $0.count }.values(store).makeAsyncIterator()
            _ = try await values.next()
        case .nextID: try write(store) { tx in _ = try tx.nextID(Storage.Note.self) }
        case .sort:
            _ = try read(store) { tx in try tx.fetch(FetchDescriptor<Storage.Note>(sortBy: [SortDescriptor(\.text)])) }
        case .cut:
            try write(store) { tx in try tx.insert(Storage.Note(id: 9, text: String(repeating: "x", count: 900))) }
        }
    }

    private static func write(_ store: Store, _ body: (borrowing WriteTransaction) throws -> Void) throws {
        try store.write(body)
    }

    private static func read<R>(_ store: Store, _ body: (borrowing ReadTransaction) throws -> R) throws -> R {
        try store.read(body)
    }

    @Test func eachEntryIsATypedErrorThatNamesIt() async throws {
        for entry in Self.entries {
            for bytes in Self.wrong where !isPossible(bytes, entry.name) {
                try await withTemporaryFolder { folder in
                    let path = folder + "/S.roost"
                    let store = try await Task { try Store.open(path, Storage.Note.self) }.value
                    try Self.write(store) { tx in try tx.insert(Storage.Note(id: 1, text: "a")) }
                    try await Task {
                        try store.engine.environment.write { try store.engine.main.put(entry.key, bytes, in: $0) }
                    }.value
                    for step in Step.allCases {
                        if step == .open { try store.close() }
                        let error = await failure(awaiting: { try await Self.take(step, path, store) })
                        if error != nil || entry.stops.contains(step) {
                            #expect(code(error) == .damaged, "\(entry.name) \(bytes) \(step): \(error as Any)")
                            #expect("\(error as Any)".contains(entry.name), "\(entry.name) \(bytes) \(step)")
                        }
                    }
                }
            }
        }
    }

    private func isPossible(_ bytes: [UInt8], _ name: String) -> Bool {
        name == "!next/1" && bytes == [1, 0, 0, 0, 0, 0, 0, 0x7F]
    }

    @Test func aMissingSequenceOrGenerationIsDamage() throws {
        for key in [MainDatabase.Key.sequence, .generation] {
            try withTemporaryFolder { folder in
                let path = folder + "/S.roost"
                let store = try Store.open(path, Storage.Note.self)
                try store.engine.environment.write { transaction in
                    _ = try key.bytes.withUnsafeBytes { try transaction.delete(store.engine.main.database, key: $0) }
                }
                #expect(
                    code(failure(of: { try store.write { tx in _ = try tx.nextID(Storage.Note.self) } })) == .damaged)
                try store.close()
                #expect(code(failure(of: { try Store.open(path, Storage.Note.self) })) == .damaged)
            }
        }
    }

    /// A counter of an unsigned ID may reach the type's end.
    @Test func aCounterAtTheEndOfItsTypeIsNoDamage() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            try store.engine.environment.write { transaction in
                try store.engine.main.setCount(.nextID(of: 1), UInt64(Int64.max), in: transaction)
            }
            #expect(
                code(failure(of: { try store.write { tx in _ = try tx.nextID(Storage.Note.self) } })) == .idsExhausted)
        }
    }

    /// An absurd size used to leave the history with one entry for ever.
    @Test func aHistorySizeThatIsTooLargeIsRightAgainAfterACommit() throws {
        try Store.withTemporary(Storage.Note.self) { store in
            try store.write { tx in try tx.insert(Storage.Note(id: 1, text: "a")) }
            try store.engine.environment.write { transaction in
                try store.engine.main.setCount(.historySize, MainDatabase.greatestCount, in: transaction)
            }
            for id in 2...4 { try store.write { tx in try tx.insert(Storage.Note(id: id, text: "a")) } }
            let bounds = try store.engine.environment.read { try store.engine.history.bounds(in: $0) }
            #expect(bounds == 2...4)
        }
    }
}
