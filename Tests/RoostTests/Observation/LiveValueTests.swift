// SPDX-License-Identifier: Apache-2.0

import Foundation
import Observation
import RoostTestSupport
import Testing

@testable import Roost

/// Models for user interfaces.
@MainActor struct LiveValueTests {
    let folder = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: folder.url, options: .init(durability: .unsafe), entities: Town.self, Land.self)
        try store.write { tx in
            try tx.insert(Town(id: 1, name: "Lyon", land: Ref("FR"), population: 500))
            try tx.insert(Town(id: 2, name: "Berlin", land: Ref("DE"), population: 3_500))
        }
    }

    /// Returns once what `read` reads has changed.
    private func change(of read: () -> Void) async {
        await withCheckedContinuation { continuation in
            withObservationTracking(read) { continuation.resume() }
        }
    }

    private func wait(until holds: () -> Bool, reading: () -> Void) async {
        while !holds() { await change(of: reading) }
    }

    private func insert(_ id: Int, _ land: String) async throws {
        try await store.write { tx in try tx.insert(Town(id: id, name: "n", land: Ref(land), population: 1)) }
    }

    @Test func valueFollowsTheStoreAndTellsWhoObservesIt() async throws {
        let counts = LiveValue(FetchDescriptor<Town>().makeCountsObserver(by: \.land).values(store))
        #expect(counts.isRunning && counts.value == nil)
        await wait(until: { counts.value != nil }, reading: { _ = counts.value })
        #expect(counts.value == [Ref("FR"): 1, Ref("DE"): 1])
        try await insert(3, "FR")
        await wait(until: { counts.value?[Ref("FR")] == 2 }, reading: { _ = counts.value })
        counts.stop()
        #expect(!counts.isRunning && counts.value != nil)
        try store.close()
    }

    @Test func anotherSequenceTakesThePlaceOfTheOneBefore() async throws {
        let names = LiveValue<[String]>()
        names.follow(Town.inLand("FR").makeObserver { $0.map(\.name) }.values(store))
        await wait(until: { names.value == ["Lyon"] }, reading: { _ = names.value })
        names.follow(Town.inLand("DE").makeObserver { $0.map(\.name) }.values(store))
        await wait(until: { names.value == ["Berlin"] }, reading: { _ = names.value })
        try await insert(3, "FR")
        try await insert(4, "DE")
        await wait(until: { names.value == ["Berlin", "n"] }, reading: { _ = names.value })
    }

    @Test func errorIsShown() async throws {
        struct Refused: Error {}
        let failing = LiveValue(Town.inLand("FR").makeObserver { _ -> Int in throw Refused() }.values(store))
        await wait(until: { !failing.isRunning }, reading: { _ = failing.isRunning })
        #expect(failing.error is Refused)
        #expect(failing.value == nil)
    }

    @Test func releasedValueLeavesNothingBehind() async throws {
        do {
            let count = LiveValue(FetchDescriptor<Town>().makeObserver { $0.count }.values(store))
            await wait(until: { count.value == 2 }, reading: { _ = count.value })
        }
        while store.engine.bus.wantsImages { await Task.yield() }
    }

    /// The model of a screen that counts items by type, as it was written for SwiftData.
    @MainActor @Observable final class Screen {
        private(set) var counts: [String: Int] = [:]

        func updates(_ store: Store) async throws {
            let observer = FetchDescriptor<Town>().makeObserver { towns in
                Dictionary(grouping: towns, by: \.land.id).mapValues(\.count)
            }
            for try await counts in observer.values(store) { self.counts = counts }
        }
    }

    @Test func screenIsStartedAndCancelledByATask() async throws {
        let screen = Screen()
        let task = Task { try await screen.updates(store) }
        await wait(until: { screen.counts == ["FR": 1, "DE": 1] }, reading: { _ = screen.counts })
        try await insert(3, "IT")
        await wait(until: { screen.counts["IT"] == 1 }, reading: { _ = screen.counts })
        task.cancel()
        try await task.value
        #expect(!store.engine.bus.wantsImages)
    }
}
