// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of somebody who uses Roost. `Tests/Consumer/run` copies it and puts a repository's URL in the place of the
// one below, which does not exist.
let package = Package(
    name: "consumer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "file:///ROOST", from: "0.1.0")
    ],
    targets: [
        .executableTarget(name: "consumer", dependencies: [.product(name: "Roost", package: "Roost")]),
        // The documents' examples, which are built and not run.
        .executableTarget(name: "readme", dependencies: [.product(name: "Roost", package: "Roost")]),
        .target(name: "StoringAndFinding", dependencies: [.product(name: "Roost", package: "Roost")]),
        .target(name: "Watching", dependencies: [.product(name: "Roost", package: "Roost")]),
    ],
    swiftLanguageModes: [.v6]
)
