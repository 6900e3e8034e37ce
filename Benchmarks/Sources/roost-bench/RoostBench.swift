// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The command: reads the arguments, runs what they ask for, and turns the outcome into an exit code.
@main
struct RoostBench {
    static func main() async {
        do {
            let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
            switch arguments.mode {
            case .help:
                print(Arguments.help)
            case .benchmark:
                exit(try benchmark(arguments) ? 0 : 1)
            case .memory:
                exit(try await measureChunkedScan(arguments) ? 0 : 1)
            case .live:
                // Off the main actor, where no program's observers deliver to.
                exit(try await Task.detached { try await live(arguments) }.value ? 0 : 1)
            case .childLiveWriter:
                try writeForParent(arguments)
            case .childFill:
                try fillForParent(arguments)
            case .childRSS(let kind):
                try reportRSSToParent(kind, arguments)
            }
        } catch {
            try? FileHandle.standardError.write(contentsOf: Data("roost-bench: \(error)\n".utf8))
            exit(1)
        }
    }

    /// Runs the table. A synchronous function, so that the peers' synchronous forms are the ones that are measured.
    ///
    /// - Returns: Whether every bar that was to be checked is met.
    private static func benchmark(_ arguments: Arguments) throws -> Bool {
        #if DEBUG
            print("This is a debug build: its figures mean nothing. Run with `swift run -c release roost-bench`.\n")
        #endif
        let folder = try WorkingFolder(in: arguments.directory)
        defer { folder.remove() }
        let results = try Runner(arguments: arguments, folder: folder).run()
        print(textReport(results))
        if let path = arguments.jsonPath {
            try jsonReport(results).write(to: URL(fileURLWithPath: path), options: .atomic)
        }
        guard arguments.checksBars else { return true }
        let missed = results.missedOpeningBars
        if !missed.isEmpty {
            print("Opening bars missed: \(missed.map(\.rawValue).joined(separator: ", "))")
        }
        return missed.isEmpty
    }

    /// Runs the live rows.
    ///
    /// - Returns: Whether every bar that is held was met, if that was to be checked.
    private static func live(_ arguments: Arguments) async throws -> Bool {
        let folder = try WorkingFolder(in: arguments.directory)
        defer { folder.remove() }
        Watchdog.start()
        var bench = LiveBench(arguments, folder)
        try await bench.run()
        print(bench.textReport)
        if let path = arguments.jsonPath {
            try bench.jsonReport.write(to: URL(fileURLWithPath: path), options: .atomic)
        }
        guard arguments.checksBars else { return true }
        let missed = bench.figures.filter(\.isMissed)
        if !missed.isEmpty { print("Live bars MISSED: \(missed.map(\.row).joined(separator: ", "))") }
        return !missed.contains(where: \.isHeld)
    }
}
