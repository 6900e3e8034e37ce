// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import RoostLMDB

/// The other process of the tests: `RoostTestHelper <role> <path>`. It prints `ready` when it is where the test wants it,
/// and goes on when it reads a line; what it could not do it prints as `error <code>`.
@main
struct RoostTestHelper {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let role = Role(rawValue: arguments[1]) else {
            print("error usage")
            exit(2)
        }
        do {
            try role.run(arguments[2])
        } catch let error as StoreError {
            print("error \(error.code.rawValue) \(error.message)")
            exit(1)
        } catch {
            print("error \(error)")
            exit(1)
        }
    }
}

enum Role: String {
    /// Holds a snapshot of an environment until it reads a line.
    case read
    /// Holds as many snapshots at once as its third argument says until it reads a line, ends them, prints `idle` and
    /// stays until it reads another.
    case readers
    /// Opens an environment and prints the size of its map.
    case map
    /// Opens a store, prints the number of notes.
    case open
    /// Adds notes inside a write transaction and stays in it until it reads a line.
    case write
    /// The same in an environment, as many entries of 1,000 bytes as its third argument says.
    case writeRaw
    /// Commits a note for each line that it reads, and prints `done`.
    case add
    /// The same, and prints when the commit was made, in nanoseconds of the system's monotonic clock, in place of `done`.
    case addTimed
    /// Carries out the orders that it reads: see `FruitOrder`.
    case order
    /// Adds a note and writes to the standard streams by their numbers, whoever has those: see `HelperProcess`.
    case babble
    /// Writes and observes as it is told: see `Convergence`.
    case converge

    func run(_ path: String) throws {
        switch self {
        case .read:
            try Environment.open(path) { environment in
                try environment.read { _ in pause() }
            }
        case .readers:
            let count = CommandLine.arguments.count > 3 ? Int(CommandLine.arguments[3]) ?? 1 : 1
            try Environment.open(path) { environment in
                let (begun, end, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
                for _ in 0..<count {
                    ended.enter()
                    Thread.detachNewThread {
                        do {
                            try environment.read { _ in
                                begun.signal()
                                end.wait()
                            }
                        } catch {
                            print("error \(error)")
                            fflush(nil)
                        }
                        ended.leave()
                    }
                }
                for _ in 0..<count { begun.wait() }
                pause()
                for _ in 0..<count { end.signal() }
                ended.wait()
                print("idle")
                fflush(nil)
                _ = readLine()
            }
        case .map:
            try Environment.open(path) { environment in
                print("map \(environment.sizes?.map ?? 0)")
            }
        case .open:
            let store = try Store.open(at: URL(fileURLWithPath: path), entities: Note.self)
            print("notes \(try store.count(FetchDescriptor<Note>()))")
            try store.close()
        case .write:
            let store = try Store.open(at: URL(fileURLWithPath: path), entities: Note.self)
            try store.write { tx in
                for id in 1_000_000..<1_000_200 { try tx.insert(Note(id: id, text: "of the dead \(id)")) }
                pause()
            }
            try store.close()
        case .add, .addTimed:
            let store = try Store.open(at: URL(fileURLWithPath: path), entities: Note.self)
            print("ready")
            fflush(nil)
            while let text = readLine() {
                try store.write { tx in try tx.insert(Note(id: try tx.nextID(Note.self), text: text)) }
                var time = timespec()
                clock_gettime(CLOCK_MONOTONIC, &time)
                print(self == .add ? "done" : "\(time.tv_sec * 1_000_000_000 + time.tv_nsec)")
                fflush(nil)
            }
            try store.close()
        case .order: try FruitOrder.serve(path)
        case .babble:
            let store = try Store.open(at: URL(fileURLWithPath: path), entities: Note.self)
            try store.write { tx in try tx.insert(Note(id: try tx.nextID(Note.self), text: "quiet")) }
            let noise = [UInt8](repeating: UInt8(ascii: "!"), count: 100_000)
            for descriptor in Int32(0)...2 {
                _ = noise.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            }
            StandardError.write(line: "a message")
            try store.write { tx in try tx.insert(Note(id: try tx.nextID(Note.self), text: "quiet")) }
            try store.close()
        case .converge: try Convergence(path).run()
        case .writeRaw:
            try Environment.open(path) { environment in
                try environment.write { transaction in
                    guard let database = try environment.openDatabases([("1", .records)], in: transaction)[0] else {
                        return
                    }
                    let value = [UInt8](repeating: 7, count: 1_000)
                    let count = CommandLine.arguments.count > 3 ? Int(CommandLine.arguments[3]) ?? 1 : 200
                    for number in 0..<count {
                        try Array("dead \(number)".utf8).withUnsafeBytes { key in
                            _ = try value.withUnsafeBytes { try transaction.put(database, key: key, value: $0) }
                        }
                    }
                    pause()
                }
            }
        }
    }

    private func pause() {
        print("ready")
        fflush(nil)
        _ = readLine()
    }
}

extension Environment {
    fileprivate static func open(_ path: String, _ body: (Environment) throws -> Void) throws {
        let environment = try open(
            directory: path, options: Options(), inspect: {}, prepare: { (environment: Environment) in environment })
        defer { close(environment) }
        try body(environment)
    }
}
