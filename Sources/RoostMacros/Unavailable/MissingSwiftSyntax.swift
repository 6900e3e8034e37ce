// SPDX-License-Identifier: Apache-2.0

// Package.swift compiles this file alone when it finds no SwiftSyntax in the toolchain, so that the build ends with
// this one message and not with "no such module" for every other file. It is empty in every other build.
#if !canImport(SwiftSyntaxMacros)
    #error(
        """
        Roost's @Entity macro is built with the SwiftSyntax modules of the Swift toolchain, and this toolchain has none \
        in usr/lib/swift/host: install a toolchain from swift.org and build with its 'swift' command
        """
    )
#endif
