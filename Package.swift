// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import CompilerPluginSupport
import Foundation
import PackageDescription

#if canImport(MachO)
    import MachO
#endif

let package = Package(
    name: "roost",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Roost", targets: ["Roost"]),
        .executable(name: "roost", targets: ["RoostTool"]),
        .executable(name: "roost-demo", targets: ["RoostDemo"]),
    ],
    targets: [
        .systemLibrary(
            name: "CRoostLMDB", pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .target(name: "RoostLMDB", dependencies: ["CRoostLMDB"]),
        macroTarget(),
        .target(name: "Roost", dependencies: ["RoostLMDB", "RoostMacros"]),
        .executableTarget(
            name: "RoostDemo", dependencies: ["Roost"], path: "Examples/Cities", exclude: ["Data"]),
        .executableTarget(name: "RoostTool", dependencies: ["Roost"], path: "Tools/roost"),
        .target(name: "RoostTestSupport", path: "Tests/Support"),
        .executableTarget(
            name: "RoostTestHelper", dependencies: ["Roost", "RoostLMDB", "RoostTestSupport"], path: "Tests/Helper"),
        .testTarget(
            name: "RoostLMDBTests", dependencies: ["RoostLMDB", "RoostTestSupport", "RoostTestHelper"]),
        .testTarget(
            name: "RoostTests", dependencies: ["Roost", "RoostLMDB", "RoostTestSupport", "RoostTestHelper"],
            exclude: ["Storage/Golden/data.mdb"]),
        .testTarget(name: "MacroDiagnosticsTests", dependencies: ["Roost"], path: "Tests/MacroDiagnostics"),
        .testTarget(name: "RoostToolTests", dependencies: ["Roost", "RoostLMDB", "RoostTool"]),
    ],
    swiftLanguageModes: [.v6]
)

// MARK: - The toolchain's own SwiftSyntax

/// The folder with the SwiftSyntax modules that the toolchain carries for its own macros, or `nil` if it has none.
///
/// Roost builds its macro against these, so that it needs neither a network nor the long build of swift-syntax. The
/// folder is found from the toolchain that runs this manifest: SwiftPM loads the PackageDescription library into this
/// process from `usr/lib/swift/pm` of that toolchain, and `usr/lib/swift/host` is next to it.
func swiftSyntaxFolder() -> String? {
    toolchainFolders().map { $0 + "/lib/swift/host" }.first { folder in
        ["SwiftSyntaxMacros", "SwiftCompilerPluginMessageHandling"].allSatisfy {
            FileManager.default.fileExists(atPath: "\(folder)/\($0).swiftmodule")
        }
    }
}

/// The `usr` folders of the toolchains this process may belong to, the surest first.
func toolchainFolders() -> [String] {
    var folders: [String] = []
    func add(_ folder: String?) {
        guard let folder, !folders.contains(folder) else { return }
        folders.append(folder)
    }
    // …/usr/lib/swift/pm/ManifestAPI/libPackageDescription.so is the library this process runs with.
    for library in loadedLibraries() {
        if let range = library.range(of: "/lib/swift/pm/") {
            add(String(library[..<range.lowerBound]))
        }
    }
    // …/usr/bin/swiftc, which may be a link into the toolchain.
    let environment = ProcessInfo.processInfo.environment
    let searchPath = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/swiftc" }
    for compiler in [environment["SWIFT_EXEC"]].compactMap({ $0 }) + searchPath
    where FileManager.default.isExecutableFile(atPath: compiler) {
        let resolved = URL(fileURLWithPath: compiler).resolvingSymlinksInPath()
        add(resolved.deletingLastPathComponent().deletingLastPathComponent().path)
    }
    return folders
}

/// The paths of the libraries that are loaded into this process.
func loadedLibraries() -> [String] {
    #if canImport(MachO)
        (0..<_dyld_image_count()).compactMap { _dyld_get_image_name($0).map { String(cString: $0) } }
    #else
        // A line of the map ends with the path of the mapped file, which starts at the first slash.
        (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8))?
            .split(separator: "\n")
            .compactMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } } ?? []
    #endif
}

/// The plugin with the macro.
///
/// Its flags are unsafe ones, as SwiftPM has no other way to name a folder outside the package. From tools version 6.2
/// on SwiftPM allows them in packages that are used by version; with an older tools version nobody could depend on a
/// release of Roost. Without SwiftSyntax only the folder that says so is compiled.
func macroTarget() -> Target {
    guard let folder = swiftSyntaxFolder() else {
        return .macro(name: "RoostMacros", path: "Sources/RoostMacros/Unavailable")
    }
    return .macro(
        name: "RoostMacros",
        swiftSettings: [.unsafeFlags(["-I", folder])],
        // The plugin is a program of its own, so nothing that uses the macro needs this rpath too.
        linkerSettings: [.unsafeFlags(["-L", folder, "-Xlinker", "-rpath", "-Xlinker", folder])]
    )
}
