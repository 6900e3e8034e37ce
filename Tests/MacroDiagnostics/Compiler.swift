// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(MachO)
    import MachO
#endif

/// The real compiler with the plugin that was built next to the tests, in a folder of its own.
///
/// Tests that ask the compiler see what a user sees: the position, the wording and the notes as they are printed.
struct Compiler {
    /// Where the stub module is and the fixtures go.
    let folder: URL

    private let swiftc: URL
    private let plugin: URL

    /// Makes the folder and compiles the stub of Roost into it.
    init() async throws {
        swiftc = try Self.locateCompiler()
        plugin = try Self.locatePlugin()
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-macro-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(StubModule.source, to: "Roost.swift")
        let output = try await run([
            "-swift-version", "6", "-parse-as-library", "-module-name", "Roost", "-emit-module",
            "-emit-module-path", folder.appendingPathComponent("Roost.swiftmodule").path,
            folder.appendingPathComponent("Roost.swift").path,
        ])
        guard !output.contains("error:") else { throw Failure("the stub of Roost does not compile:\n\(output)") }
    }

    /// Type-checks the named files as one module and returns all that the compiler prints.
    func check(_ files: [String: String], dumpingExpansions: Bool = false) async throws -> String {
        for (name, source) in files {
            try write(source, to: name)
        }
        let dump = dumpingExpansions ? ["-Xfrontend", "-dump-macro-expansions"] : []
        return try await run(
            [
                "-typecheck", "-swift-version", "6", "-parse-as-library", "-module-name", "Fixtures",
                // In one piece, as the driver would otherwise stop after the first file with an error.
                "-whole-module-optimization", "-package-name", "fixtures",
                "-diagnostic-style", "llvm", "-no-color-diagnostics", "-I", folder.path,
                "-load-plugin-executable", plugin.path + "#RoostMacros",
            ] + dump + files.keys.sorted().map { folder.appendingPathComponent($0).path }
        )
    }

    func removeFolder() {
        try? FileManager.default.removeItem(at: folder)
    }

    private func write(_ source: String, to name: String) throws {
        try Data(source.utf8).write(to: folder.appendingPathComponent(name))
    }

    private func run(_ arguments: [String]) async throws -> String {
        // A file and no pipe: the output can be larger than what a pipe holds while nobody reads it.
        let log = folder.appendingPathComponent("\(UUID().uuidString).log")
        try Data().write(to: log)
        let output = try FileHandle(forWritingTo: log)
        let process = Process()
        process.executableURL = swiftc
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        try output.close()
        return try String(contentsOf: log, encoding: .utf8)
    }
}

extension Compiler {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// The plugin in the folder of the test products, which is one of those above what this process runs.
    private static func locatePlugin() throws -> URL {
        let names = ["RoostMacros-tool", "RoostMacros"]
        let starts = [Bundle.main.executablePath].compactMap { $0 } + CommandLine.arguments + loadedImages()
        for start in starts where start.hasPrefix("/") {
            var folder = URL(fileURLWithPath: start).resolvingSymlinksInPath()
            for _ in 0..<5 where folder.path != "/" {
                folder.deleteLastPathComponent()
                for name in names {
                    let candidate = folder.appendingPathComponent(name)
                    var isFolder: ObjCBool = false
                    if FileManager.default.fileExists(atPath: candidate.path, isDirectory: &isFolder),
                        !isFolder.boolValue, FileManager.default.isExecutableFile(atPath: candidate.path)
                    {
                        return candidate
                    }
                }
            }
        }
        throw Failure("no plugin RoostMacros-tool next to the test products: build the whole package first")
    }

    /// The compiler of the toolchain whose libraries this process runs with, or else the first one in `PATH`.
    private static func locateCompiler() throws -> URL {
        let ofToolchain = loadedImages().compactMap { image in
            image.range(of: "/lib/swift/").map { image[..<$0.lowerBound] + "/bin/swiftc" }
        }
        let searchPath = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let inPath = searchPath.split(separator: ":").map { $0 + "/swiftc" }
        let candidates = (ofToolchain + inPath).map(String.init)
        guard let found = candidates.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw Failure("no swiftc in the toolchain of the tests and none in PATH")
        }
        return URL(fileURLWithPath: found)
    }

    /// The files of the program and the libraries in this process.
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
