// SPDX-License-Identifier: Apache-2.0

@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftSyntaxMacros

/// The process the compiler starts to expand Roost's macros.
///
/// A toolchain carries SwiftSyntax for its own use but not the `SwiftCompilerPlugin` module that packages normally get
/// from the swift-syntax repository, so this type does the little that module does: it answers the compiler's
/// messages on standard input and output until the compiler closes them.
@main
struct RoostMacrosPlugin {
    static func main() throws {
        let connection = try StandardIOMessageConnection()
        let listener = CompilerPluginMessageListener(connection: connection, provider: RoostMacroProvider())
        try listener.main()
    }
}

/// Finds the macro a `#externalMacro` declaration names.
struct RoostMacroProvider: PluginProvider {
    func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
        switch typeName {
        case "EntityMacro": EntityMacro.self
        default: throw UnknownMacro(moduleName: moduleName, typeName: typeName)
        }
    }
}

/// A macro this plugin does not have: the library and its plugin are of different versions.
struct UnknownMacro: Error, CustomStringConvertible {
    let moduleName: String
    let typeName: String

    var description: String {
        "the plugin \(moduleName) has no macro \(typeName): clean the build folder and build again"
    }
}
