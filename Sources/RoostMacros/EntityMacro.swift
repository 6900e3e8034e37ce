// SPDX-License-Identifier: Apache-2.0

import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Entity`: turns a plain struct into one that Roost can store.
///
/// The work is done in two steps that know nothing of each other's syntax: `EntityReader` reads the struct into an
/// `EntityModel`, collecting every problem on the way, and `ExtensionWriter` writes the extension from the model.
public struct EntityMacro: ExtensionMacro {
    /// The writer lays the code out itself, so that an expansion reads the same with every SwiftSyntax version.
    public static var formatMode: FormatMode { .disabled }

    public static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        var reader = EntityReader(lexicalContext: context.lexicalContext)
        let model = reader.read(declaration, attribute: node)
        for diagnostic in reader.diagnostics {
            context.diagnose(diagnostic)
        }
        // Nothing is generated from a struct with problems: half an extension would only add errors about code that
        // the user cannot see.
        guard let model, reader.diagnostics.isEmpty else { return [] }

        let writer = ExtensionWriter(
            model: model,
            typeName: type.trimmedDescription,
            statesConformance: !protocols.isEmpty
        )
        let source: DeclSyntax = "\(raw: writer.source)"
        return source.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
}
