// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Many observers beside a writer that does not wait for them. The times are in the benchmarks.
struct CrowdTests {
    @Entity struct Sheet {
        var id: Int
        var version: Int
        var text: String
    }

    /// Each commit changes one observer's object, of 20 KB.
    @Test func unpacedCommitsBesideACrowdWaitInBoundedMemoryAndNobodyMissesTheLast() async throws {
        // A sanitizer needs as long for a twentieth.
        let most = isSanitized ? 500 : 10_000
        let (observers, commits) = (repetitions(500, thorough: most), repetitions(1_000, thorough: 2 * most))
        let place = TemporaryPlace()
        let store = try await Store.open(at: place.url, options: .init(durability: .unsafe), entities: Sheet.self)
        let text = String(repeating: "x", count: 20_000)
        try await store.write { tx in
            for id in 0..<observers { try tx.insert(Sheet(id: id, version: 0, text: text)) }
        }
        let last = (0..<observers).map { id in (1...commits).last { $0 * 7_919 % observers == id } ?? 0 }
        let started = Counter()
        let tasks = (0..<observers).map { id in
            Task {
                var isFirst = true
                let request = FetchDescriptor<Sheet>(predicate: #Predicate { $0.id == id })
                for try await version in request.makeObserver({ $0.first?.version }).values(store) {
                    if isFirst { started.increment() }
                    isFirst = false
                    if version == last[id] { return true }
                }
                return false
            }
        }
        while started.value < observers { await Task.yield() }
        // No pause, on a thread of its own.
        let waiting = try await Task.detached {
            var most = (rows: 0, images: 0)
            for number in 1...commits {
                try write(store, number * 7_919 % observers, number)
                let pending = store.engine.bus.pendingBytes
                most = (max(most.rows, pending.rows), max(most.images, pending.images))
            }
            return most
        }.value
        print("at most \(waiting.rows) bytes of rows and \(waiting.images) of records waited")
        #expect(waiting.rows <= 16 << 20)
        #expect(waiting.images <= 64 << 20)
        for (id, task) in tasks.enumerated() { #expect(try await task.value, "observer \(id)") }
        #expect(store.engine.bus.pollInterval == nil)
        try store.close()
    }
}

private func write(_ store: Store, _ id: Int, _ version: Int) throws {
    try store.write { tx in _ = try tx.update(CrowdTests.Sheet.self, id: id) { $0.version = version } }
}
