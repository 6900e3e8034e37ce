// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization

/// A running `RoostTestHelper`, spoken to by lines. It ends when its standard input does.
package final class HelperProcess: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let ended = DispatchSemaphore(value: 0)
    private let pending = Mutex<[UInt8]>([])

    /// Starts the helper in one of its roles, with at most `addressSpace` kilobytes (`ulimit -v`), without its standard
    /// streams, or with variables beside this process's.
    package init(
        _ arguments: [String], addressSpace: Int? = nil, withoutStreams: Bool = false, variables: [String: String] = [:]
    ) throws {
        let helper = try Self.executable()
        if withoutStreams {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "exec \"$0\" \"$@\" <&- >&- 2>&-", helper] + arguments
        } else if let addressSpace {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "ulimit -v \(addressSpace) && exec \"$0\" \"$@\"", helper] + arguments
        } else {
            process.executableURL = URL(fileURLWithPath: helper)
            process.arguments = arguments
        }
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        process.standardInput = input
        process.standardOutput = output
        let ended = ended
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
    }

    package struct NotBuilt: Error { let path: String }

    /// Next to the test bundle, which SwiftPM links into the same folder.
    private static func executable() throws -> String {
        let folders = [Bundle.main.bundlePath, Bundle.main.executableURL?.deletingLastPathComponent().path ?? ""]
        for folder in folders {
            for candidate in [folder, (folder as NSString).deletingLastPathComponent] {
                let path = candidate + "/RoostTestHelper"
                if FileManager.default.isExecutableFile(atPath: path) { return path }
            }
        }
        throw NotBuilt(path: folders.joined(separator: ", "))
    }

    package var identifier: Int32 { process.processIdentifier }

    /// The next line that it prints; nil at its end.
    package func line() -> String? {
        pending.withLock { pending in
            while true {
                if let end = pending.firstIndex(of: 10) {
                    defer { pending.removeFirst(end + 1) }
                    return String(decoding: pending[..<end], as: UTF8.self)
                }
                let more = output.fileHandleForReading.availableData
                if more.isEmpty { return nil }
                pending.append(contentsOf: more)
            }
        }
    }

    package func send(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    /// Ends its input, waits for it and returns its exit status.
    @discardableResult
    package func finish() -> Int32 {
        try? input.fileHandleForWriting.close()
        ended.wait()
        return process.terminationStatus
    }

    /// `kill -9`, and waits until the system has taken it away.
    package func kill() {
        _ = Foundation.kill(process.processIdentifier, SIGKILL)
        ended.wait()
    }
}
