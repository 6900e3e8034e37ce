// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(MachO)
    import MachO
#endif

/// The built program, run as a user runs it.
struct Tool {
    struct Run {
        let status: Int32
        let output: String
        let errors: String

        var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    static func run(_ arguments: String...) async throws -> Run { try await run(arguments) }

    static func run(_ arguments: [String]) async throws -> Run {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roost-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files and no pipes: the output can be larger than what a pipe holds while nobody reads it.
        let (output, errors) = (folder.appendingPathComponent("output"), folder.appendingPathComponent("errors"))
        for file in [output, errors] { try Data().write(to: file) }
        let status = try await run(
            executable(), arguments, output: FileHandle(forWritingTo: output), errors: FileHandle(forWritingTo: errors))
        return Run(
            status: status, output: try String(contentsOf: output, encoding: .utf8),
            errors: try String(contentsOf: errors, encoding: .utf8))
    }

    /// Runs a line of the shell in which `$ROOST` is the program.
    static func shell(_ line: String) async throws -> Int32 {
        let process = Process()
        var environment = ProcessInfo.processInfo.environment
        environment["ROOST"] = try executable().path
        process.environment = environment
        return try await status(
            of: process, URL(fileURLWithPath: "/bin/sh"), ["-c", line])
    }

    /// What a line of the shell writes to its standard output and error, in which `$ROOST` is the program.
    static func shellOutput(_ line: String) async throws -> Run {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roost-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func text(_ name: String) throws -> String {
            try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        }
        let status = try await shell("{ \(line)\n} >'\(folder.path)/output' 2>'\(folder.path)/errors'")
        return Run(status: status, output: try text("output"), errors: try text("errors"))
    }

    /// What the program writes into a terminal.
    static func onTerminal(_ arguments: String...) async throws -> String {
        let (terminal, name) = try pseudoTerminal()
        let side = open(name, O_RDWR | O_NOCTTY)
        guard side >= 0 else { throw Failure("no terminal") }
        defer { close(terminal) }
        // Its side stays open until the program has ended; what it wrote waits in the terminal, a few kilobytes at most.
        let handle = FileHandle(fileDescriptor: side, closeOnDealloc: false)
        _ = try await run(executable(), arguments, output: handle, errors: handle)
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(terminal, &bytes, bytes.count)
        close(side)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
    }

    /// A new terminal, and the path of the side that a program writes to.
    private static func pseudoTerminal() throws -> (terminal: Int32, path: String) {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        guard terminal >= 0 else { throw Failure("no terminal") }
        #if os(Linux)
            // The C module lacks `unlockpt` and `ptsname`: TIOCSPTLCK and TIOCGPTN are what they do.
            var (unlocked, number) = (Int32(0), Int32(0))
            guard ioctl(terminal, 0x4004_5431, &unlocked) == 0, ioctl(terminal, 0x8004_5430, &number) == 0 else {
                throw Failure("no terminal")
            }
            return (terminal, "/dev/pts/\(number)")
        #else
            guard grantpt(terminal) == 0, unlockpt(terminal) == 0, let name = ptsname(terminal) else {
                throw Failure("no terminal")
            }
            return (terminal, String(cString: name))
        #endif
    }

    static func run(
        _ executable: URL, _ arguments: [String], output: FileHandle, errors: FileHandle
    ) async throws -> Int32 {
        let process = Process()
        process.standardOutput = output
        process.standardError = errors
        return try await status(of: process, executable, arguments)
    }

    private static func status(of process: Process, _ executable: URL, _ arguments: [String]) async throws -> Int32 {
        process.executableURL = executable
        process.arguments = arguments
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// The program in the folder of the test products, which is one of those above what this process runs.
    static func executable() throws -> URL {
        for start in [Bundle.main.executablePath].compactMap({ $0 }) + CommandLine.arguments + loadedImages()
        where start.hasPrefix("/") {
            var folder = URL(fileURLWithPath: start).resolvingSymlinksInPath()
            for _ in 0..<5 where folder.path != "/" {
                folder.deleteLastPathComponent()
                let candidate = folder.appendingPathComponent("roost")
                var isFolder: ObjCBool = false
                if FileManager.default.fileExists(atPath: candidate.path, isDirectory: &isFolder), !isFolder.boolValue,
                    FileManager.default.isExecutableFile(atPath: candidate.path)
                {
                    return candidate
                }
            }
        }
        throw Failure("no program roost next to the test products: build the whole package first")
    }

    private static func loadedImages() -> [String] {
        #if canImport(MachO)
            return (0..<_dyld_image_count()).compactMap { _dyld_get_image_name($0).map { String(cString: $0) } }
        #else
            let map = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
            return map.split(separator: "\n").compactMap { line in
                line.firstIndex(of: "/").map { String(line[$0...]) }
            }
        #endif
    }
}
