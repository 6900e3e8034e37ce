// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// Closures that are run again when something changes that they have read.
struct SnapshotValuesTests {
    let folder = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: folder.url, options: .init(durability: .unsafe), entities: Town.self, Land.self)
        try store.write { tx in
            try tx.insert(Land(id: "FR", name: "France"))
            try tx.insert(Town(id: 1, name: "Lyon", land: Ref("FR"), population: 500))
            try tx.insert(Town(id: 2, name: "Berlin", land: Ref("DE"), population: 3_500))
        }
    }

    private func write(_ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Void) async throws {
        try await store.write { tx in try body(tx) }
        store.engine.bus.drain()
    }

    @Test func severalAnswersAreOfOneSnapshotAndFollowWhatTheyRead() async throws {
        var values = store.observe { tx in
            (
                try tx.count(Town.inLand("FR")), try tx.get(Land.self, id: "FR")?.name,
                try tx.get(Town.self, ids: [2, 9]).map(\.name)
            )
        }.makeAsyncIterator()
        func next() async throws -> [String] {
            guard let (count, land, towns) = try await values.next() else { return [] }
            return ["\(count)", land ?? "nil"] + towns
        }
        #expect(try await next() == ["1", "France", "Berlin"])
        // What it has not read.
        try await write { tx in
            try tx.insert(Town(id: 3, name: "Bonn", land: Ref("DE"), population: 1))
            try tx.insert(Land(id: "DE", name: "Germany"))
        }
        #expect(!values.isInvalid)
        // A match, an object that it looked up, and one that was not there.
        try await write { tx in try tx.insert(Town(id: 4, name: "Nice", land: Ref("FR"), population: 1)) }
        #expect(values.isInvalid)
        #expect(try await next() == ["2", "France", "Berlin"])
        try await write { tx in _ = try tx.update(Land.self, id: "FR") { $0.name = "Frankreich" } }
        #expect(try await next() == ["2", "Frankreich", "Berlin"])
        try await write { tx in try tx.insert(Town(id: 9, name: "Jena", land: Ref("DE"), population: 1)) }
        #expect(try await next() == ["2", "Frankreich", "Berlin", "Jena"])
    }

    @Test func whatIsReadMayDependOnWhatWasRead() async throws {
        var values = store.observe { tx -> String in
            guard let town = try tx.get(Town.self, id: 1) else { return "–" }
            return try tx.get(Land.self, id: town.land.id)?.name ?? "?"
        }.makeAsyncIterator()
        #expect(try await values.next() == "France")
        try await write { tx in _ = try tx.update(Town.self, id: 1) { $0.land = Ref("DE") } }
        #expect(try await values.next() == "?")
        // The one before is not read any more, the other is.
        try await write { tx in _ = try tx.update(Land.self, id: "FR") { $0.name = "x" } }
        #expect(!values.isInvalid)
        try await write { tx in try tx.insert(Land(id: "DE", name: "Germany")) }
        #expect(try await values.next() == "Germany")
    }

    /// It is not known yet what it reads, and the commit is not in its snapshot.
    @Test func commitDuringAReadingIsJudgedByWhatItRead() async throws {
        let (entered, entering) = AsyncStream<Void>.makeStream()
        let release = DispatchSemaphore(value: 0)
        let isFirst = Mutex(true)
        let values = store.observe { tx -> Int in
            _ = try tx.sequence()
            let first = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            if first {
                entering.yield()
                release.wait()
            }
            return try tx.count(Town.inLand("FR"))
        }.makeAsyncIterator()
        let (counts, counting) = AsyncStream<Int>.makeStream()
        let task = Task { [values] in
            var values = values
            while let count = try await values.next() { counting.yield(count) }
        }
        var seen = counts.makeAsyncIterator()
        for await _ in entered { break }
        try await write { tx in try tx.insert(Town(id: 5, name: "Nice", land: Ref("FR"), population: 1)) }
        release.signal()
        #expect(await seen.next() == 1)
        #expect(await seen.next() == 2)
        task.cancel()
        try await task.value
        #expect(!store.engine.bus.wantsImages)
    }

    @Test func commitDuringAReadingThatItDoesNotConcernMakesNoOther() async throws {
        let runs = Counter()
        let release = DispatchSemaphore(value: 0)
        let (entered, entering) = AsyncStream<Void>.makeStream()
        var values = store.observe { tx -> Int in
            runs.increment()
            _ = try tx.sequence()
            if runs.value == 1 {
                entering.yield()
                release.wait()
            }
            return try tx.count(Town.inLand("FR"))
        }.makeAsyncIterator()
        let writer = Task { [store] in
            for await _ in entered { break }
            try await store.write { tx in try tx.insert(Town(id: 6, name: "Bonn", land: Ref("DE"), population: 1)) }
            store.engine.bus.drain()
            release.signal()
        }
        #expect(try await values.next() == 1)
        try await writer.value
        #expect(!values.isInvalid)
        #expect(runs.value == 1)
    }

    @Test func errorsEndItAndClosingDoes() async throws {
        struct Refused: Error {}
        var failing = store.observe { _ -> Int in throw Refused() }.makeAsyncIterator()
        await #expect(throws: Refused.self) { try await failing.next() }
        #expect(try await failing.next() == nil)
        var values = store.observe { try $0.count(FetchDescriptor<Town>()) }.makeAsyncIterator()
        #expect(try await values.next() == 2)
        try store.close()
        #expect(try await values.next() == nil)
    }
}
