// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

// Hazards 5, 6 and 43: a process with a small map beside one with a large one, which lets the file grow beyond it.
struct GrownFileTests {
    let place = TemporaryPlace()
    let store: Store
    private let peer: HelperProcess

    init() throws {
        store = try Store.open(
            at: place.url, options: .init(durability: .unsafe, maximumSize: 1 << 18), entities: Storage.Note.self)
        peer = try HelperProcess(["add", place.url.path])
        #expect(peer.line() == "ready")
    }

    /// About a sixth of the small map, which ends 1 MiB behind the limit.
    private func grow() {
        peer.send(String(repeating: "g", count: 200_000))
        #expect(peer.line() == "done")
    }

    private func count() throws -> Int { try store.count(FetchDescriptor<Storage.Note>()) }

    @Test func smallerProcessReadsAndDeletesOnWhileTheOtherGrowsTheFile() throws {
        var ids: [Int] = []
        for round in 1...24 {
            grow()
            ids.append(round)
            // Reads first, or writes first.
            if round % 2 == 0 { #expect(try count() == ids.count) }
            if round % 3 == 0 {
                let first = ids.removeFirst()
                try store.write { tx in try tx.delete(Storage.Note.self, id: first) }
            }
            #expect(try count() == ids.count)
            // What a reader remembers of where it found things is of the map that it was found in.
            for id in ids { #expect(try store.get(Storage.Note.self, id: id)?.id == id) }
            #expect(try store.get(Storage.Note.self, ids: ids).map(\.id) == ids)
        }
        #expect(peer.finish() == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: place.url.path + "/data.mdb")
        #expect((attributes[.size] as? Int ?? 0) > 3 << 20)
    }

    /// With the peer's map this process also had the peer's limit.
    @Test func aMapThatWasTakenOverDoesNotLiftTheLimit() throws {
        try store.write { tx in try tx.insert(Storage.Note(id: -1, text: "before")) }
        for _ in 1...12 { grow() }
        #expect(try count() == 13)
        for text in ["", "more"] {
            let error = #expect(throws: StoreError.self) {
                try store.write { tx in try tx.upsert(Storage.Note(id: -1 - text.count, text: text)) }
            }
            #expect(error?.code == .storeFull)
            #expect(error?.message.contains("of at most 262144 bytes") == true, "\(String(describing: error))")
        }
        for id in 1...12 {
            // Below the limit there is room for one of the peer's.
            if id < 12 {
                #expect(throws: StoreError.self) {
                    try store.write { tx in try tx.insert(Storage.Note(id: -2, text: "")) }
                }
            }
            try store.write { tx in try tx.delete(Storage.Note.self, id: id) }
        }
        try store.write { tx in try tx.insert(Storage.Note(id: -2, text: "behind")) }
        #expect(peer.finish() == 0)
    }

    @Test func readersOnManyThreadsGoOnWhileTheFileGrows() throws {
        let isOver = Atomic<Bool>(false)
        let failures = Mutex<[any Error]>([])
        let reads = Atomic<Int>(0)
        let ended = DispatchGroup()
        for _ in 0..<4 {
            ended.enter()
            Thread.detachNewThread { [store] in
                var last = 0
                while !isOver.load(ordering: .acquiring) {
                    do {
                        let notes = try store.fetch(FetchDescriptor<Storage.Note>())
                        if notes.count < last { throw StoreError(.damaged, "\(notes.count) after \(last)") }
                        last = notes.count
                        reads.add(1, ordering: .relaxed)
                    } catch {
                        failures.withLock { $0.append(error) }
                        break
                    }
                }
                ended.leave()
            }
        }
        for _ in 0..<24 { grow() }
        isOver.store(true, ordering: .releasing)
        ended.wait()
        #expect(failures.withLock { $0.map { "\($0)" } } == [])
        #expect(reads.load(ordering: .relaxed) > 0)
        #expect(try count() == 24)
        #expect(peer.finish() == 0)
    }

    @Test func observerOfTheSmallerProcessSeesTheOthersCommits() async throws {
        var values = FetchDescriptor<Storage.Note>().makeCountObserver().values(store).makeAsyncIterator()
        #expect(try await values.next() == 0)
        for round in 1...12 {
            grow()
            #expect(try await values.next() == round)
        }
        #expect(peer.finish() == 0)
    }

    /// It used to open what a peer had added, for which it had to begin another transaction: with a map that was too small by
    /// then it failed, or waited for others who waited for it.
    @Test func aReadGoesOnWhateverAPeerHasAddedAndHoweverLargeTheFileIs() throws {
        let place = TemporaryPlace()
        let store = try Store.open(
            at: place.url, options: .init(durability: .unsafe, maximumSize: 1 << 18), entities: Storage.Label.self)
        let generation = try store.read { try store.engine.main.generation(in: $0.context.transaction) }
        let peer = try HelperProcess(["add", place.url.path])
        #expect(peer.line() == "ready")
        try store.engine.environment.read { transaction in
            #expect(try store.engine.main.generation(in: transaction) > generation)
            for _ in 0..<12 {
                peer.send(String(repeating: "g", count: 200_000))
                #expect(peer.line() == "done")
            }
            try store.engine.schema.verify(transaction)
            // Who would need the rest of what was added cannot have it now.
            let error = failure { try store.engine.schema.refresh() }
            #expect(code(StoreError.wrapping(error ?? CancellationError(), engine: store.engine)) == .storeBusy)
        }
        #expect(try store.count(FetchDescriptor<Storage.Label>()) == 0)
        try store.engine.schema.refresh()
        #expect(store.engine.schema.catalog.entity(named: "Note") != nil)
        #expect(peer.finish() == 0)
    }

    /// A write inside a read would wait for the read, which cannot end before it.
    @Test func writeInsideAReadIsRefusedRatherThanWaitForItself() throws {
        try store.write { tx in try tx.insert(Storage.Note(id: -3, text: "before")) }
        let error = try store.read { (tx) throws -> (any Error)? in
            let before = try tx.get(Storage.Note.self, id: -3)
            #expect(before != nil)
            for _ in 0..<12 { grow() }
            do {
                try store.write { tx in try tx.delete(Storage.Note.self, id: 1) }
                return nil
            } catch {
                return error
            }
        }
        #expect((error as? StoreError)?.code == .storeBusy)
        try store.write { tx in try tx.delete(Storage.Note.self, id: 1) }
        #expect(try count() == 12)
        #expect(peer.finish() == 0)
    }
}
