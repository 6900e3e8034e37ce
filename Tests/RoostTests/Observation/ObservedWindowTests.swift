// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import RoostTestSupport
import Testing

@testable import Roost

/// Observers of the first rows of an order: what changes behind them makes no difference.
struct ObservedWindowTests {
    let folder = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: folder.url, options: .init(durability: .unsafe), entities: Town.self, Land.self)
        try store.write { tx in
            for id in 1...20 {
                try tx.insert(Town(id: id, name: "n\(id % 3)", land: Ref("FR"), population: id * 10))
            }
        }
    }

    private var totals: ReadTotals { store.engine.environment.readTotals }

    private func largest(_ limit: Int, offset: Int = 0) -> FetchDescriptor<Town> {
        var request = Town.inLand("FR")
        request.sortBy = [SortDescriptor(\.population, order: .reverse)]
        request.fetchLimit = limit
        request.fetchOffset = offset
        return request
    }

    private func set(_ population: Int, of id: Int) async throws {
        try await store.write { tx in _ = try tx.update(Town.self, id: id) { $0.population = population } }
        store.engine.bus.drain()
    }

    @Test func changeBehindTheLastRowRunsNoFetch() async throws {
        var values = largest(3).makeObserver { $0.map(\.id) }.values(store).makeAsyncIterator()
        #expect(try await values.next() == [20, 19, 18])
        // Each of them would make a value: the next one asked for shows which did.
        try await set(100, of: 1)
        try await set(179, of: 2)
        try await store.write { tx in
            try tx.insert(Town(id: 30, name: "x", land: Ref("FR"), population: 5))
            _ = try tx.delete(Town.self, id: 5)
            // The same as the last row's, and behind it by its ID.
            try tx.insert(Town(id: 17_000, name: "x", land: Ref("FR"), population: 20))
        }
        store.engine.bus.drain()
        let before = totals
        let next = Task { [values] in
            var values = values
            return try await values.next()
        }
        try await set(185, of: 3)
        #expect(try await next.value == [20, 19, 3])
        // One fetch of three rows, and one look at the last of them.
        #expect(totals.reads - before.reads == 1)
    }

    /// What was judged by a window that a fetch under way replaces.
    @Test func commitDuringAFetchIsJudgedByItsResult() throws {
        let signal = ChangeSignal()
        func place(_ byte: UInt8) -> ResultPlace { .at([byte]) }
        signal.beginFetch()
        signal.endFetch(at: 1, end: place(10))
        #expect(!signal.isInvalid)
        signal.invalidate(by: 2, from: place(11))
        #expect(!signal.isInvalid)
        signal.invalidate(by: 3, from: place(10))
        #expect(signal.isInvalid)
        // The window grows while it is fetched at 3, and 4 is in it: by the old one it was behind.
        signal.beginFetch()
        signal.invalidate(by: 4, from: place(15))
        signal.endFetch(at: 3, end: place(20))
        #expect(signal.isInvalid)
        // It shrinks, and 6 is behind it: by the old one it was in it.
        signal.beginFetch()
        signal.invalidate(by: 6, from: place(15))
        signal.endFetch(at: 5, end: place(9))
        #expect(!signal.isInvalid)
        // Seen by the fetch itself.
        signal.invalidate(by: 7, from: place(8))
        signal.beginFetch()
        signal.invalidate(by: 8, from: place(8))
        signal.endFetch(at: 8, end: place(9))
        #expect(!signal.isInvalid)
        // No end: everything concerns it.
        signal.invalidate(by: 9, from: .anywhere)
        signal.beginFetch()
        signal.endFetch(at: 9, end: nil)
        signal.invalidate(by: 10, from: place(200))
        #expect(signal.isInvalid)
        // More than are kept count as if they were in the window.
        signal.beginFetch()
        for sequence in 11...200 { signal.invalidate(by: UInt64(sequence), from: place(50)) }
        signal.endFetch(at: 10, end: place(9))
        #expect(signal.isInvalid)
    }

    /// Every value equals a fetch, and a commit makes one exactly if it touches the window.
    @Test(arguments: [0, 2]) func windowFiresExactlyForWhatIsNotBehindIt(_ offset: Int) async throws {
        var generator = SeededGenerator()
        for request in [largest(4, offset: offset), ordered(4, offset: offset)] {
            let binding = try store.binding(of: Town.self)
            let order = try LoweredRequest(request, binding).order
            let observer = request.makeObserver { $0 }
            var values = observer.values(store).makeAsyncIterator()
            var last = try await values.next() ?? []
            /// As a plain program would say it.
            func isNotBehind(_ town: Town, _ last: Town) -> Bool {
                if order.terms.count == 1 {
                    return (town.population, town.id) >= (last.population, last.id)
                }
                return (town.name, -town.population, town.id) <= (last.name, -last.population, last.id)
            }
            var fired = 0
            for _ in 0..<200 {
                let id = Int.random(in: 1...25, using: &generator)
                let old = try await store.get(Town.self, id: id)
                var new: Town? = Town(
                    id: id, name: "n\(Int.random(in: 0...3, using: &generator))",
                    land: Ref(Int.random(in: 0..<5, using: &generator) == 0 ? "DE" : "FR"),
                    population: Int.random(in: 0...30, using: &generator) * 10)
                if Int.random(in: 0..<5, using: &generator) == 0 { new = nil }
                try await store.write { [new] tx in
                    if let new { try tx.upsert(new) } else { _ = try tx.delete(Town.self, id: id) }
                }
                store.engine.bus.drain()
                let touches = [old, new].compactMap { $0 }.contains { town in
                    guard town.land == Ref("FR") else { return false }
                    guard last.count == 4, let end = last.last else { return true }
                    return isNotBehind(town, end)
                }
                let isExpected = old != new && touches
                #expect(values.isInvalid == isExpected)
                let fetched = try await store.fetch(request)
                if isExpected {
                    fired += 1
                    last = try await values.next() ?? []
                }
                #expect(last == fetched)
            }
            #expect(fired > 20)
        }
    }

    private func ordered(_ limit: Int, offset: Int) -> FetchDescriptor<Town> {
        var request = largest(limit, offset: offset)
        request.sortBy = [SortDescriptor(\.name), SortDescriptor(\.population, order: .reverse), SortDescriptor(\.id)]
        return request
    }
}
