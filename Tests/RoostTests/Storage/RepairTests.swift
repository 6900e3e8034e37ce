// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import RoostTestSupport
import Testing

@testable import Roost

/// Damage that errors named could be got rid of only object by object, and a wrong index not at all.
@Suite struct RepairTests {
    typealias Parcel = DamagedReplacementTests.Parcel
    typealias Crate = DamagedReplacementTests.Crate

    private static let parcels = (0..<40).map { Parcel.number($0, id: $0) }
    private static let crates = ["b", "ab", "", "aab", "b\0", "\0b", "tag", "é"].enumerated().map {
        Crate.number($0.offset + 95, id: $0.element)
    }

    /// Small batches, so that every stage has several.
    private static func small<T: Entity>(_: T.Type) -> Repair<T>.Limits { .init(rows: 7, bytes: 3_000, entries: 5) }

    private func repair<T: Entity>(
        _ store: Store, _: T.Type, removing damage: Store.Damage = .lost,
        between: (Repair<T>) throws -> Void = { _ in }
    ) throws -> RepairReport<T> {
        var repair = try Repair<T>(store, removing: damage, limits: Self.small(T.self))
        while !repair.isOver {
            try store.read { (tx) throws in try repair.examine(tx.context) }
            try between(repair)
            if repair.hasFindings { try store.write { (tx) throws in try repair.mend(tx.session) } }
        }
        return repair.report
    }

    /// All entries of the entity's indexes, and how many cut keys each is said to have.
    private func entries(_ store: Store, _ entity: String) throws -> [[[UInt8]]] {
        let state = try store.state(entity)
        return try store.engine.environment.read { transaction in
            try state.indexes.map { index in
                var keys: [[UInt8]] = []
                try RangeWalker.forEachEntry(of: index.database, in: transaction) { key, _ in keys.append(Array(key)) }
                let cut = try store.engine.main.count(.inexactKeys(of: index.databaseNumber), in: transaction)
                return keys + [withUnsafeBytes(of: cut) { Array($0) }]
            }
        }
    }

    /// The store has these objects, and the indexes of a store that never had others.
    private func expect<T: Entity & Equatable>(_ store: Store, has objects: [T], _ what: String) throws {
        try Store.withTemporary(T.self) { (healthy) throws in
            try healthy.write { (tx) throws in try tx.insert(contentsOf: objects) }
            #expect(try store.all(T.self) == healthy.all(T.self), "\(what)")
            #expect(try entries(store, T.entityName) == entries(healthy, T.entityName), "\(what)")
        }
    }

    private func change(_ store: Store, _ database: Database, _ body: (Transaction, Database) throws -> Void) throws {
        try store.engine.environment.write { try body($0, database) }
    }

    private func put(_ key: [UInt8], _ database: Database, _ store: Store, value: [UInt8] = []) throws {
        try change(store, database) { transaction, database in
            try key.withUnsafeBytes { key in
                _ = try value.withUnsafeBytes { try transaction.put(database, key: key, value: $0) }
            }
        }
    }

    private func delete(_ key: [UInt8], _ database: Database, _ store: Store) throws {
        try change(store, database) { transaction, database in
            _ = try key.withUnsafeBytes { try transaction.delete(database, key: $0) }
        }
    }

    private func names<T: Entity>(_ objects: RepairReport<T>.Objects, _ ids: [T.ID]) -> Bool {
        objects.ids == ids && objects.count == ids.count
    }

    private func with<T: Entity>(_ objects: [T], _ body: (Store) throws -> Void) throws {
        try Store.withTemporary(T.self) { (store) throws in
            try store.write { (tx) throws in try tx.insert(contentsOf: objects) }
            try body(store)
        }
    }

    // MARK: Records

    @Test func aStoreWithoutDamageIsNotWrittenIn() throws {
        try with(Self.parcels) { (store) throws in
            for damage in [Store.Damage.lost, [.lost, .unknown, .altered], []] {
                let report = try store.repair(Parcel.self, removing: damage)
                #expect(report.removed.count + report.unreadable.count + report.altered.count == 0)
                #expect(report.entriesAdded + report.entriesRemoved == 0)
            }
            #expect(try store.lastSequence() == 1)
            try expect(store, has: Self.parcels, "healthy")
        }
    }

    private func verify<T: Entity & Equatable>(
        _ objects: [T], _ position: Int, _ number: Int, removing: Store.Damage
    ) throws {
        let (name, damage) = DamagedReplacementTests.damages[number]
        let id = objects[position].id
        try with(objects) { (store) throws in
            let record = try #require(try store.record(T.entityName, id))
            try store.overwrite(T.entityName, id, with: damage(record))
            let isReadable = failure(of: { try store.get(T.self, id: id) }) == nil
            let report = try repair(store, T.self, removing: removing)
            let isRemoved = !isReadable || removing.contains(.altered)
            #expect(names(report.removed, isRemoved ? [id] : []), "\(name)")
            #expect(names(report.altered, isRemoved ? [] : [id]), "\(name)")
            #expect(report.unreadable.count == 0)
            // The altered object's entries are those of what can be read now.
            var left = objects
            left.remove(at: position)
            if let object = try store.get(T.self, id: id) { left.append(object) }
            #expect(left.count == objects.count - (isRemoved ? 1 : 0))
            try expect(store, has: left, name)
            // Nothing is left to do.
            let sequence = try store.lastSequence()
            _ = try store.repair(T.self, removing: removing)
            #expect(try store.lastSequence() == sequence)
        }
    }

    @Test(arguments: 0..<9) func damagedRecords(_ number: Int) throws {
        try verify(Self.parcels, 7, number, removing: .lost)
        try verify(Self.parcels, 39, number, removing: [.lost, .altered])
    }

    @Test(arguments: 0..<9) func damagedRecordsWithTextIDs(_ number: Int) throws {
        for position in 0..<repetitions(2, thorough: 8) {
            try verify(Self.crates, 7 - position, number, removing: .lost)
            try verify(Self.crates, 7 - position, number, removing: [.lost, .altered])
        }
    }

    /// Another version of the program may know the value.
    @Test func whatIsAsItWasWrittenIsRemovedOnlyWhenAskedFor() throws {
        let notes = (0..<30).map { Storage.Note(id: $0, text: "note \($0)") }
        try with(notes) { (store) throws in
            var record = try #require(try store.record("Note", 5))
            record[14] = 0xFF
            let checksum = try 5.withKey { key in record.withUnsafeBytes { Checksum.ofRecord(key: key, record: $0) } }
            withUnsafeBytes(of: checksum.littleEndian) { record.replaceSubrange(4..<8, with: $0) }
            try store.overwrite("Note", 5, with: record)
            let kept = try repair(store, Storage.Note.self)
            #expect(names(kept.unreadable, [5]) && kept.removed.count == 0)
            #expect(try store.count(FetchDescriptor<Storage.Note>()) == 30)
            let removed = try repair(store, Storage.Note.self, removing: .unknown)
            #expect(names(removed.removed, [5]) && removed.unreadable.count == 0)
            try expect(store, has: notes.filter { $0.id != 5 }, "unknown")
        }
    }

    @Test func lostObjectsStayWhereNothingIsToBeRemoved() throws {
        try with(Self.parcels) { (store) throws in
            let before = try entries(store, "Parcel")
            try store.overwrite("Parcel", 3, with: [1, 2, 3])
            let report = try repair(store, Parcel.self, removing: [])
            #expect(names(report.unreadable, [3]) && report.removed.count == 0 && report.entriesRemoved == 0)
            #expect(try store.record("Parcel", 3) == [1, 2, 3])
            #expect(try entries(store, "Parcel") == before)
        }
    }

    @Test func recordsUnderKeysThatAreNoIDs() throws {
        try with(Self.parcels) { (store) throws in
            let records = try store.state("Parcel").records
            let record = try #require(try store.record("Parcel", 1))
            let lengths = [1, 7, 9, 300]
            for length in lengths { try put([UInt8](repeating: 0x81, count: length), records, store, value: record) }
            let report = try repair(store, Parcel.self)
            #expect(report.removed.count == lengths.count && report.removed.ids.isEmpty)
            try expect(store, has: Self.parcels, "keys")
            #expect(try store.historyEntry(2) != nil)
        }
    }

    // MARK: Indexes

    @Test func missingEntriesAreAddedAndOthersRemoved() throws {
        for number in 0..<Parcel.indexes.count {
            try with(Self.parcels) { (store) throws in
                let before = try entries(store, "Parcel")[number]
                let index = try store.state("Parcel").indexes[number]
                let all = Array(before.dropLast())
                // Of objects that exist, with a value of another, and of one that does not.
                let id3 = try 3.withKey { Array($0) }
                let id999 = try 999.withKey { Array($0) }
                var excess: Set<[UInt8]> = []
                for (position, entry) in all.enumerated() where position % 9 == 4 {
                    excess.insert(Array(entry.dropLast(8)) + (position % 2 == 0 ? id3 : id999))
                }
                excess.insert([1])
                excess.insert(Array(all[0].dropLast(1)))
                excess.subtract(all)
                let missing = all.indices.filter { $0 % 5 == 0 }
                for entry in excess { try put(entry, index.database, store) }
                for position in missing { try delete(all[position], index.database, store) }
                let report = try repair(store, Parcel.self)
                #expect(report.entriesAdded == missing.count, "index \(number)")
                #expect(report.entriesRemoved == excess.count, "index \(number)")
                #expect(report.removed.count + report.unreadable.count + report.altered.count == 0)
                try expect(store, has: Self.parcels, "index \(number)")
            }
        }
    }

    @Test func anEmptiedIndexIsFilled() throws {
        try with(Self.crates) { (store) throws in
            for (number, index) in try store.state("Crate").indexes.enumerated() {
                for entry in try entries(store, "Crate")[number].dropLast() { try delete(entry, index.database, store) }
            }
            let report = try store.repair(Crate.self)
            #expect(report.entriesAdded > 2 * Self.crates.count)
            try expect(store, has: Self.crates, "emptied")
        }
    }

    @Test func damageOfAllKindsAtOnce() throws {
        var random = SeededGenerator()
        for _ in 0..<repetitions(6, thorough: 200) {
            let seed = "seed \(random.seed)"
            let objects = (0..<Int.random(in: 1...60, using: &random)).map { Parcel.number($0 * 3, id: $0) }
            try with(objects) { (store) throws in
                let state = try store.state("Parcel")
                for (number, index) in state.indexes.enumerated() {
                    for entry in try entries(store, "Parcel")[number].dropLast() {
                        switch Int.random(in: 0..<12, using: &random) {
                        case 0: try delete(entry, index.database, store)
                        case 1: try put(Array(entry.dropLast()) + [0x77], index.database, store)
                        case 2: try put(random.bytes(Int.random(in: 1...40, using: &random)), index.database, store)
                        default: break
                        }
                    }
                }
                for object in objects where Int.random(in: 0..<6, using: &random) == 0 {
                    let record = try #require(try store.record("Parcel", object.id))
                    let damage = DamagedReplacementTests.damages.randomElement(using: &random)
                    try store.overwrite("Parcel", object.id, with: damage?.change(record) ?? [])
                }
                let left = objects.compactMap { object in try? store.get(Parcel.self, id: object.id) }
                let report = try repair(store, Parcel.self)
                #expect(report.removed.count == objects.count - left.count, "\(seed)")
                try expect(store, has: left, seed)
            }
        }
    }

    // MARK: Beside others

    /// Each batch is an ordinary commit.
    @Test func theCommitsSayWhatHappened() throws {
        try with(Self.parcels) { (store) throws in
            try store.overwrite("Parcel", 3, with: [])
            let index = try store.state("Parcel").indexes[0]
            try put([1], index.database, store)
            _ = try store.repair(Parcel.self)
            #expect(try store.lastSequence() == 3)
            let removal = try #require(try store.historyEntry(2)?.entities.first)
            #expect(removal.rows?.map(\.kind) == [.deleted])
            let mending = try #require(try store.historyEntry(3)?.entities.first)
            #expect(mending.rows == nil)
        }
    }

    @Test func anotherProcessWritesBetweenTheBatches() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(path, Storage.Note.self)
            try store.write { (tx) throws in
                for id in 0..<100 { try tx.insert(Storage.Note(id: id, text: "note \(id)")) }
            }
            let index = try store.state("Note").indexes[0]
            let all = try entries(store, "Note")[0].dropLast()
            for entry in all.prefix(20) { try delete(entry, index.database, store) }
            for number in 200..<220 {
                try put(Array("note \(number)\0".utf8) + (try 4.withKey { Array($0) }), index.database, store)
            }
            for id in [10, 50, 99] { try store.overwrite("Note", id, with: [1]) }
            let peer = try HelperProcess(["add", path])
            #expect(peer.line() == "ready")
            var added = 0
            let report = try repair(store, Storage.Note.self) { _ in
                added += 1
                peer.send("peer \(added)")
                #expect(peer.line() == "done")
            }
            #expect(peer.finish() == 0)
            #expect(added > 20)
            #expect(names(report.removed, [10, 50, 99]))
            let left = try store.all(Storage.Note.self)
            #expect(left.count == 97 + added)
            try expect(store, has: left, "peer")
            try store.close()
        }
    }

    /// What was found is looked at again before it is mended.
    @Test func whatIsMendedMeanwhileIsLeftAlone() throws {
        let notes = (0..<30).map { Storage.Note(id: $0, text: "note \($0)") }
        try with(notes) { (store) throws in
            try store.overwrite("Note", 4, with: [1])
            let index = try store.state("Note").indexes[0]
            let stray = Array("other\0".utf8) + (try 6.withKey { Array($0) })
            try put(stray, index.database, store)
            var expected = notes
            let report = try repair(store, Storage.Note.self) { repair in
                guard repair.hasFindings else { return }
                // The entry is the object's by now.
                expected[4].text = "new"
                expected[6].text = "other"
                try store.write { (tx) throws in try tx.upsert(contentsOf: [expected[4], expected[6]]) }
            }
            #expect(report.removed.count == 0)
            try expect(store, has: expected, "meanwhile")
        }
    }

    @Test func cancelledBetweenBatchesItKeepsWhatIsMended() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("repair-\(UUID().uuidString).roost")
        defer { try? FileManager.default.removeItem(at: url) }
        let store = try await Task { try Store.open(url.path, Storage.Note.self) }.value
        try await store.write { tx in
            for id in 0..<5_000 { try tx.insert(Storage.Note(id: id, text: "note \(id)")) }
        }
        try await Task {
            for id in stride(from: 0, to: 5_000, by: 400) { try store.overwrite("Note", id, with: [1]) }
        }.value
        // In a task that is cancelled nothing begins.
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.repair(Storage.Note.self)
        }
        let error = await failure(awaiting: { try await cancelled.value })
        #expect(error is CancellationError)
        let blocking = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try Self.inThisThread(store)
        }
        let otherError = await failure(awaiting: { try await blocking.value })
        #expect(otherError is CancellationError)
        // In the middle: after the first batch.
        let halted = Task {
            var repair = try Repair<Storage.Note>(store, removing: .lost)
            try Self.step(store, &repair)
            withUnsafeCurrentTask { $0?.cancel() }
            try Self.step(store, &repair)
        }
        let lastError = await failure(awaiting: { try await halted.value })
        #expect(lastError is CancellationError)
        let sequence = try await Task { try store.lastSequence() }.value
        #expect(sequence == 2)
        let report = try await store.repair(Storage.Note.self)
        #expect(report.removed.ids == Array(stride(from: 1_200, to: 5_000, by: 400)))
        let left = try await store.count(FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text.contains("n") }))
        #expect(left == 5_000 - 13)
        try store.close()
    }

    private static func inThisThread(_ store: Store) throws -> RepairReport<Storage.Note> {
        try store.repair(Storage.Note.self)
    }

    private static func step(_ store: Store, _ repair: inout Repair<Storage.Note>) throws {
        try store.read { (tx) throws in try repair.examine(tx.context) }
        if repair.hasFindings { try store.write { (tx) throws in try repair.mend(tx.session) } }
    }

    @Test func aHundredThousandObjectsTakeTheMemoryOfABatch() throws {
        try Store.withTemporary(Storage.Note.self) { (store) throws in
            try store.write { (tx) throws in
                for id in 0..<100_000 { try tx.insert(Storage.Note(id: id, text: "\(id)")) }
            }
            let lost = [0, 999, 1_000, 50_000, 99_999]
            for id in lost { try store.overwrite("Note", id, with: [1]) }
            let index = try store.state("Note").indexes[0]
            // More missing entries than a batch looks for.
            try store.engine.environment.write { transaction in
                for id in 10_000..<30_000 {
                    let key = Array("\(id)\0".utf8) + (try id.withKey { Array($0) })
                    _ = try key.withUnsafeBytes { try transaction.delete(index.database, key: $0) }
                }
            }
            var repair = try Repair<Storage.Note>(store, removing: .lost)
            var (batches, most) = (0, 0)
            while !repair.isOver {
                try store.read { (tx) throws in try repair.examine(tx.context) }
                batches += 1
                most = max(most, repair.findingCount)
                if repair.hasFindings { try store.write { (tx) throws in try repair.mend(tx.session) } }
            }
            #expect(most == 1_000 && batches > 200)
            #expect(names(repair.report.removed, lost))
            #expect(repair.report.entriesAdded == 20_000 && repair.report.entriesRemoved == 0)
            let byText = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text >= "" })
            #expect(try store.count(byText) == 100_000 - lost.count)
        }
    }

    // MARK: Refusals

    @Test func whereNothingCanBeWrittenItThrows() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/S.roost"
            let store = try Store.open(path, Storage.Note.self)
            #expect(code(failure(of: { try store.repair(Parcel.self) })) == .unknownEntity)
            try store.write { (tx) throws in
                try tx.insert(Storage.Note(id: 1, text: "a"))
                #expect(code(failure(of: { try store.repair(Storage.Note.self) })) == .nestedWrite)
            }
            // Inside a read it sees that read's snapshot.
            try store.read { (_) throws in _ = try store.repair(Storage.Note.self) }
            try store.close()
            #expect(code(failure(of: { try store.repair(Storage.Note.self) })) == .storeClosed)
            let reader = try Store.open(path, options: .init(durability: .unsafe, isReadOnly: true), Storage.Note.self)
            #expect(code(failure(of: { try reader.repair(Storage.Note.self) })) == .readOnly)
            try reader.close()
        }
    }

    @Test func theErrorsOfDamageNameTheRemedy() throws {
        try with(Self.parcels) { (store) throws in
            try store.overwrite("Parcel", 1, with: [1, 2, 3])
            let index = try store.state("Parcel").indexes[0]
            try put(
                try #require(try entries(store, "Parcel")[0].first).dropLast() + [99], index.database, store)
            let byID = failure(of: { try store.get(Parcel.self, id: 1) }) as? StoreError
            #expect(byID?.message.contains("Store.repair") == true)
            let request = FetchDescriptor<Parcel>(predicate: #Predicate { $0.weight == 0 }, sortBy: [.init(\.weight)])
            let byIndex =
                failure(of: { try store.fetch(request) }) as? StoreError
            #expect(byIndex?.message.contains("Store.repair") == true, "\(byIndex as Any)")
        }
    }
}
