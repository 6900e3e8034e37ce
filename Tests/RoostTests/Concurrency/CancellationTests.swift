// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// Every form of reading, cancelled from inside its own work at a certain row: what it read afterwards is counted.
struct CancellationTests {
    private static let count = 2_000
    private static let cancelledAt = 500
    /// Rows between two looks at the flag, and what is found ahead of its decoding.
    private static let bound = 100

    let place = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: place.url, options: .init(durability: .unsafe), entities: Town.self)
        try store.write { tx in
            for id in 1...Self.count {
                try tx.insert(Town(id: id, name: "t\(id % 7)", land: Ref("FR"), population: -id))
            }
        }
    }

    private var totals: Counters { store.engine.environment.readTotals.counters }

    /// Runs `read` in a task that is cancelled when the probe is asked for the row.
    private func verifyStops(
        _ what: String, _ probe: Probe, _ read: @escaping @Sendable () async throws -> Void
    ) async {
        let before = totals
        let task = Task { try await read() }
        probe.arm(Self.cancelledAt) { task.cancel() }
        let error = await failure(awaiting: { try await task.value })
        #expect(error is CancellationError, "\(what): \(String(describing: error))")
        let after = totals - before
        #expect(after.recordsRead >= Self.cancelledAt, "\(what)")
        #expect(after.recordsRead <= Self.cancelledAt + Self.bound, "\(what)")
        #expect(after.entriesVisited <= Self.cancelledAt + Self.bound, "\(what)")
        #expect(store.engine.environment.oldestReader == nil, "\(what)")
    }

    @Test func everyAsynchronousFormStopsAtOnceWhenItsTaskIsCancelled() async throws {
        let store = store
        let probe = Probe()
        let request = FetchDescriptor(predicate: probe.predicate)
        let sorted = FetchDescriptor(predicate: probe.predicate, sortBy: [SortDescriptor(\.population)])
        await verifyStops("fetch", probe) { _ = try await store.fetch(request) }
        await verifyStops("sorted fetch", probe) { _ = try await store.fetch(sorted) }
        await verifyStops("count", probe) { _ = try await store.count(request) }
        await verifyStops("ids", probe) { _ = try await store.ids(request) }
        await verifyStops("first", probe) { _ = try await store.first(sorted) }
        await verifyStops("explain", probe) { _ = try await store.explain(request) }
        await verifyStops("read", probe) {
            try await store.read { tx in try tx.forEach(request) { _ in } }
        }
        await verifyStops("chunks", probe) {
            for try await _ in store.chunks(request, size: Self.count) {}
        }
        await verifyStops("get", probe) {
            _ = try await store.get(Town.self, ids: ProbedIDs(ids: Array(1...Self.count), probe: probe))
        }
    }

    @Test func synchronousFormsStopAtOnceInsideACancelledTask() async throws {
        let store = store
        let probe = Probe()
        let request = FetchDescriptor(predicate: probe.predicate)
        let sorted = FetchDescriptor(predicate: probe.predicate, sortBy: [SortDescriptor(\.population)])
        func verify(_ what: String, _ read: @escaping @Sendable () throws -> Void) async {
            await verifyStops(what, probe) { try read() }
        }
        await verify("fetch") { _ = try store.fetch(request) }
        await verify("sorted fetch") { _ = try store.fetch(sorted) }
        await verify("count") { _ = try store.count(request) }
        await verify("ids") { _ = try store.ids(request) }
        await verify("first") { _ = try store.first(sorted) }
        await verify("explain") { _ = try store.explain(request) }
        await verify("forEach") { try store.read { tx in try tx.forEach(request) { _ in } } }
        await verify("get") {
            _ = try store.get(Town.self, ids: ProbedIDs(ids: Array(1...Self.count), probe: probe))
        }
    }

    @Test func idsWithoutAnObjectAreNotLookedUpToTheEndEither() async throws {
        let store = store
        let probe = Probe()
        let task = Task {
            _ = try await store.get(Town.self, ids: ProbedIDs(ids: Array(1_000_000...1_010_000), probe: probe))
        }
        probe.arm(Self.cancelledAt) { task.cancel() }
        #expect(await failure(awaiting: { try await task.value }) is CancellationError)
        #expect(probe.rows <= Self.cancelledAt + Self.bound)
    }

    /// From the first statement of its body a write is not cancelled any more, whatever it reads.
    @Test func aWriteThatReadsIsNotCancelledHalfway() async throws {
        let store = store
        let probe = Probe()
        let request = FetchDescriptor(predicate: probe.predicate)
        let task = Task {
            try await store.write { tx in
                let towns = try tx.fetch(request)
                _ = try tx.update(Town.self, id: 1) { $0.name = "\(towns.count)" }
                return try store.count(request)
            }
        }
        probe.arm(Self.cancelledAt) { task.cancel() }
        #expect(try await task.value == Self.count)
        #expect(try await store.get(Town.self, id: 1)?.name == "\(Self.count)")
    }
}

/// Calls back when a predicate is evaluated, or an ID asked for, for the nth time.
private final class Probe: Sendable {
    private struct State {
        var rows = 0
        var at = 0
        var action: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    /// Holds the reading back until the probe is armed.
    private let armed = DispatchSemaphore(value: 0)

    var rows: Int { state.withLock { $0.rows } }

    func arm(_ row: Int, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0 = State(rows: 0, at: row, action: action) }
        armed.signal()
    }

    func count() {
        if state.withLock({ $0.rows == 0 }) { armed.wait() }
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            state.rows += 1
            return state.rows == state.at ? state.action : nil
        }
        action?()
    }

    var predicate: Predicate<Town> {
        let probe = self
        return Predicate<Town> { town in ProbeExpression(probe: probe, town: town) }
    }
}

/// True for every object; a node that Roost does not know, so that it is evaluated for each.
private struct ProbeExpression: StandardPredicateExpression {
    let probe: Probe
    let town: PredicateExpressions.Variable<Town>

    init(probe: Probe, town: PredicateExpressions.Variable<Town>) {
        self.probe = probe
        self.town = town
    }

    func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        _ = try town.evaluate(bindings)
        probe.count()
        return true
    }

    struct NotCodable: Error {}
    init(from decoder: any Decoder) throws { throw NotCodable() }
    func encode(to encoder: any Encoder) throws { throw NotCodable() }
}

private struct ProbedIDs: Sequence, Sendable {
    let ids: [Int]
    let probe: Probe

    func makeIterator() -> AnyIterator<Int> {
        var rest = ids.makeIterator()
        return AnyIterator {
            let next = rest.next()
            if next != nil { probe.count() }
            return next
        }
    }
}
