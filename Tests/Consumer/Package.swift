// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of somebody who uses Roost. `Tests/Consumer/run` copies it and puts a repository's URL in the place of the
// one below, which does not exist.
let roost = Target.Dependency.product(name: "Roost", package: "Roost")

// The documents' examples: the README's program is run, the guides' are only built. Their sources are put there by the
// script, which also checks that no guide is missing here.
let guides = ["StoringAndFinding", "Predicates", "OpeningAndClosing", "Failures", "Watching", "StoresInTests"]

let package = Package(
    name: "consumer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "file:///ROOST", from: "0.1.0")
    ],
    targets: [
        .executableTarget(name: "consumer", dependencies: [roost]),
        .executableTarget(name: "readme", dependencies: [roost]),
    ] + guides.map { .target(name: $0, dependencies: [roost]) },
    swiftLanguageModes: [.v6]
)
