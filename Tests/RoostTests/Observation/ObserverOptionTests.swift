// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import Testing

@testable import Roost

struct ObserverOptionTests {
    let place = TemporaryPlace()
    let store: Store
    let clock = SteppedClock()

    init() throws {
        store = try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Town.self, Land.self)
        try insert(1)
    }

    private func insert(_ id: Int, _ population: Int = 1) throws {
        try store.write { tx in
            try tx.upsert(Town(id: id, name: "n", land: Ref("FR"), population: population))
        }
        store.engine.bus.drain()
    }

    private var reads: Int { Int(store.engine.environment.readTotals.reads) }

    private func counts(_ maximumWait: Duration? = nil) -> FetchObserver<Town, Int>.Values {
        Town.inLand("FR").makeObserver { $0.count }
            .debounce(for: .milliseconds(30), maximumWait: maximumWait, clock: clock).values(store)
    }

    @Test func burstIsFetchedOnceWhenItPauses() async throws {
        var values = counts().makeAsyncIterator()
        #expect(try await values.next() == 1)
        let before = reads
        try insert(2)
        let next = Task { [values] in
            var values = values
            return try await values.next()
        }
        #expect(await clock.nextSleep() == .milliseconds(30))
        clock.advance(by: .milliseconds(20))
        try insert(3)
        clock.advance(by: .milliseconds(10))
        #expect(await clock.nextSleep() == .milliseconds(50))
        #expect(reads == before)
        clock.advance(by: .milliseconds(20))
        #expect(try await next.value == 3)
        #expect(reads == before + 1)
    }

    @Test func burstThatNeverPausesIsFetchedAtTheMaximumWait() async throws {
        var values = counts(.milliseconds(40)).makeAsyncIterator()
        #expect(try await values.next() == 1)
        try insert(2)
        let next = Task { [values] in
            var values = values
            return try await values.next()
        }
        #expect(await clock.nextSleep() == .milliseconds(30))
        clock.advance(by: .milliseconds(20))
        try insert(3)
        clock.advance(by: .milliseconds(10))
        #expect(await clock.nextSleep() == .milliseconds(40))
        try insert(4)
        clock.advance(by: .milliseconds(10))
        #expect(try await next.value == 4)
    }

    @Test func whoAsksLateDoesNotWait() async throws {
        var values = counts().makeAsyncIterator()
        #expect(try await values.next() == 1)
        try insert(2)
        clock.advance(by: .milliseconds(30))
        #expect(try await values.next() == 2)
    }

    @Test func closingTheStoreEndsTheWaitForAPause() async throws {
        var values = counts().makeAsyncIterator()
        #expect(try await values.next() == 1)
        try insert(2)
        let next = Task { [values] in
            var values = values
            return try await values.next()
        }
        #expect(await clock.nextSleep() == .milliseconds(30))
        try store.close()
        #expect(try await next.value == nil)
    }

    @Test func cancellationEndsTheWaitForAPause() async throws {
        var values = counts().makeAsyncIterator()
        #expect(try await values.next() == 1)
        try insert(2)
        let next = Task { [values] in
            var values = values
            return try await values.next()
        }
        #expect(await clock.nextSleep() == .milliseconds(30))
        next.cancel()
        #expect(try await next.value == nil)
    }

    @Test func equalValueIsLeftOut() async throws {
        let (mapped, mapping) = AsyncStream<Int>.makeStream()
        var maps = mapped.makeAsyncIterator()
        let observer = Town.inLand("FR").makeObserver {
            mapping.yield($0.count)
            return $0.count
        }
        var values = observer.removeDuplicates().values(store).makeAsyncIterator()
        #expect(try await values.next() == 1)
        #expect(await maps.next() == 1)
        let next = Task { [values] in
            var values = values
            return try await values.next()
        }
        try insert(1, 2)
        #expect(await maps.next() == 1)
        try insert(2)
        #expect(try await next.value == 2)
    }

    @Test func idsAreObservedWithoutBuildingObjects() async throws {
        var values = Town.inLand("FR").makeIDObserver().values(store).makeAsyncIterator()
        #expect(try await values.next() == [1])
        try insert(2)
        #expect(try await values.next() == [1, 2])
    }
}
