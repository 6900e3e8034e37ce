// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// Another process's commits.
extension LiveBench {
    mutating func measureOtherProcess() async throws {
        let count = min(arguments.count, 10_000)
        let url = try folder.makeEmpty("live").appendingPathComponent("process.roost")
        let store = try openForLive(url)
        let items = (1...Int64(count)).map { item($0) }
        try insertNow(store, items)
        let writer = try OtherWriter(url)
        let id: Int64 = 5
        let small = Follower(
            FetchDescriptor<Item>(predicate: #Predicate { $0.id == id }).makeObserver { $0.first?.price ?? 0 }
                .values(store))
        _ = try await small.next()
        let unconcerned = Follower(
            FetchDescriptor<Item>(predicate: #Predicate { $0.id == 6 }).makeObserver { $0.count }.values(store))
        _ = try await unconcerned.next()
        var times = Times()
        for sample in 0..<(isSmoke ? 20 : 500) {
            usleep(1_000)
            writer.commit(id, Double(sample))
            let arrival = try await small.next { $0 == Double(sample) }
            let committed = try writer.committed()
            times.add(arrival.time - min(arrival.time, committed))
        }
        try demand(small.last == (try getNow(store, [id])).first?.price, "another process's commits")
        figures.append(
            LiveFigure(
                row: "other_process_p50", value: times.p50 / 1e6, unit: "ms", bar: 5,
                details: [.init(name: "p99_ms", value: times.p99 / 1e6)]))
        // Waits for nothing: it would be a value that has come already.
        small.stop()
        unconcerned.stop()
        try store.close()
        try writer.finish()
    }
}

func insertNow(_ store: Store, _ items: [Item]) throws { try store.write { tx in try tx.insert(contentsOf: items) } }

/// This program, started once more: it commits what it is told and says when it has.
private final class OtherWriter {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var pending: [UInt8] = []

    init(_ store: URL) throws {
        process.executableURL = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--child-live-writer", "--directory", store.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard line() == "ready" else { throw BenchmarkError("the other process did not begin") }
    }

    func commit(_ id: Int64, _ price: Double) { input.fileHandleForWriting.write(Data("\(id) \(price)\n".utf8)) }

    /// When its last commit was complete.
    func committed() throws -> UInt64 {
        guard let time = line().flatMap({ UInt64($0) }) else { throw BenchmarkError("the other process has ended") }
        return time
    }

    func finish() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw BenchmarkError("the other process failed") }
    }

    private func line() -> String? {
        while true {
            if let end = pending.firstIndex(of: 10) {
                defer { pending.removeFirst(end + 1) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            pending += more
        }
    }
}

/// In the other process.
func writeForParent(_ arguments: Arguments) throws {
    guard let directory = arguments.directory else { throw BenchmarkError("--child-live-writer needs --directory") }
    let store = try openForLive(URL(fileURLWithPath: directory))
    print("ready")
    fflush(nil)
    while let line = readLine() {
        let words = line.split(separator: " ")
        guard words.count == 2, let id = Int64(words[0]), let price = Double(words[1]) else { break }
        try update(store, id) { $0.price = price }
        print(monotonicNow())
        fflush(nil)
    }
    try store.close()
}
