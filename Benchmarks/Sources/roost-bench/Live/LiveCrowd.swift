// SPDX-License-Identifier: Apache-2.0

import CPeers
import Foundation
import Roost
import Synchronization

/// An object of 20 KB.
@Entity
struct Sheet {
    var id: Int64
    var kind: Int
    var version: Int
    var text: String

    static let indexes: [Index<Sheet>] = [Index(\.kind, \.version)]
}

/// Many observers beside a writer that does not wait for them.
extension LiveBench {
    /// What may wait on the way to the observers: 64 MiB of records and 16 MiB of rows.
    private static var budget: Double { 80 }

    mutating func measureCrowd() async throws {
        try await measureCrowd("crowd_one_each", isShared: false)
        try await measureCrowd("crowd_all", isShared: true)
    }

    /// Each commit concerns one of the observers, or all of them: who has the newest of all objects.
    private mutating func measureCrowd(_ row: String, isShared: Bool) async throws {
        let number = isSmoke ? 200 : 10_000
        let url = try folder.makeEmpty("live").appendingPathComponent("crowd.roost")
        let store = try openSheets(url, number)
        // By object, the version that its observer had last.
        let versions = Box(Mutex([Int](repeating: -1, count: number)))
        let (ready, values) = (Box(Mutex(0)), Box(Mutex(0)))
        var tasks: [Task<Void, Never>] = []
        for index in 0..<number {
            let id = Int64(index)
            var request = FetchDescriptor<Sheet>(predicate: #Predicate { $0.id == id })
            if isShared {
                request = FetchDescriptor(
                    predicate: #Predicate { $0.kind == 1 }, sortBy: [SortDescriptor(\.version, order: .reverse)])
                request.fetchLimit = 1
            }
            let observer = request.makeObserver { $0.first?.version ?? -2 }
            tasks.append(
                Task.detached {
                    do {
                        for try await version in observer.values(store) {
                            versions.value.withLock { $0[index] = version }
                            if version == 0 { ready.value.withLock { $0 += 1 } }
                            values.value.withLock { $0 += 1 }
                        }
                    } catch {
                        versions.value.withLock { $0[index] = -3 }
                    }
                })
        }
        while ready.value.withLock({ $0 }) < number { try await Task.sleep(for: .milliseconds(5)) }

        bench_trim_heap()
        let base = ProcessMemory.anonymous
        let sampler = MemorySampler()
        let began = monotonicNow()
        var expected = [Int](repeating: 0, count: number)
        for commit in 1...number {
            let index = commit * 7_919 % number
            try rewrite(store, Int64(index), commit)
            expected[index] = commit
        }
        if isShared { expected = [Int](repeating: number, count: number) }
        let end = monotonicNow()
        var isRight = false
        while !isRight, monotonicNow() - end < 60_000_000_000 {
            let right = expected
            isRight = versions.value.withLock { $0 == right }
            if !isRight { usleep(1_000) }
        }
        let right = monotonicNow()
        let peak = sampler.stop()
        try demand(isRight, "last values of \(number) observers")

        let cancelling = monotonicNow()
        for task in tasks { task.cancel() }
        try closeNow(store)
        let closed = monotonicNow()
        for task in tasks { await task.value }
        figures.append(
            LiveFigure(
                row: row + "_memory", value: Double(max(0, peak - base)) / 1_048_576, unit: "MiB",
                bar: number == 10_000 ? Self.budget : nil,
                details: [
                    .init(name: "before", value: Double(base) / 1_048_576),
                    .init(name: "values", value: Double(values.value.withLock { $0 } - number)),
                ]))
        figures.append(
            LiveFigure(
                row: row + "_last_values", value: Double(right - end) / 1e9, unit: "s", bar: number == 10_000 ? 1 : nil,
                details: [.init(name: "commit_us", value: Double(end - began) / Double(number) / 1_000)]))
        figures.append(
            LiveFigure(
                row: row + "_cancel_and_close", value: Double(closed - cancelling) / 1e9, unit: "s",
                bar: number == 10_000 ? 0.2 : nil,
                details: [.init(name: "until_all_tasks_ended", value: Double(monotonicNow() - cancelling) / 1e9)]))
    }

    private func openSheets(_ url: URL, _ number: Int) throws -> Store {
        let store = try Store.open(at: url, options: Store.Options(durability: .unsafe), entities: Sheet.self)
        let text = String(repeating: "x", count: 20_000)
        try store.write { tx in
            for id in 0..<number { try tx.insert(Sheet(id: Int64(id), kind: 1, version: 0, text: text)) }
        }
        return store
    }

    private func rewrite(_ store: Store, _ id: Int64, _ version: Int) throws {
        try store.write { tx in _ = try tx.update(Sheet.self, id: id) { $0.version = version } }
    }

    private func closeNow(_ store: Store) throws { try store.close() }
}

/// Looks at the program's memory every few milliseconds, on a thread of its own.
private final class MemorySampler: Sendable {
    private let state = Mutex((peak: 0, isOver: false))
    private let ended = DispatchSemaphore(value: 0)

    init() {
        Thread.detachNewThread { [self] in
            while !state.withLock({ $0.isOver }) {
                let now = ProcessMemory.anonymous
                state.withLock { $0.peak = max($0.peak, now) }
                usleep(5_000)
            }
            ended.signal()
        }
    }

    /// The most that there was.
    func stop() -> Int {
        state.withLock { $0.isOver = true }
        ended.wait()
        return state.withLock { $0.peak }
    }
}
