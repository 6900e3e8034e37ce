// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "RoostBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Roost", path: "..")
    ],
    targets: [
        // Names of their own: the package that is measured has system library targets, too, and the names of all
        // targets in a build must differ.
        .systemLibrary(
            name: "CLMDBForPeers",
            pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
        ),
        .systemLibrary(
            name: "CSQLiteForPeers",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .target(
            name: "CPeers",
            dependencies: ["CLMDBForPeers", "CSQLiteForPeers"]
        ),
        .executableTarget(
            name: "roost-bench",
            dependencies: ["CPeers", .product(name: "Roost", package: "Roost")]
        ),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11
)
