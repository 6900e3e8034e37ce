// SPDX-License-Identifier: Apache-2.0

import SwiftDiagnostics
import SwiftSyntax

/// Reads a struct declaration into an `EntityModel` and notes everything that stands in the way.
///
/// Reading goes on after a problem, so that one build shows the user all of them.
struct EntityReader {
    /// The declarations around the struct, innermost first.
    let lexicalContext: [Syntax]

    private(set) var diagnostics: [Diagnostic] = []

    init(lexicalContext: [Syntax]) {
        self.lexicalContext = lexicalContext
    }

    /// The model of the struct, or `nil` if the declaration is no struct at all.
    mutating func read(_ declaration: some DeclGroupSyntax, attribute: AttributeSyntax) -> EntityModel? {
        guard let structDecl = declaration.as(StructDeclSyntax.self) else {
            diagnostics.append(Self.notAStruct(declaration, attribute: attribute))
            return nil
        }
        checkGenerics(of: structDecl)
        checkPrivacy(of: structDecl)

        let access = access(of: structDecl)
        var properties = PropertyReader(
            ownTypes: Self.typeNames(declaredIn: structDecl.memberBlock),
            requiredAccess: access
        )
        properties.read(structDecl.memberBlock)
        diagnostics += properties.diagnostics
        if !properties.hasID {
            diagnostics.append(
                EntityDiagnostic.missingID.at(structDecl.name, fixIts: [.addID(to: structDecl.memberBlock)])
            )
        }

        return EntityModel(
            entityName: structDecl.name.text.withoutBackticks,
            access: access,
            availability: Self.availability(of: structDecl),
            properties: properties.stored.filter(\.isID) + properties.stored.filter { !$0.isID }
        )
    }

    private mutating func checkGenerics(of structDecl: StructDeclSyntax) {
        if let parameters = structDecl.genericParameterClause {
            diagnostics.append(EntityDiagnostic.genericStruct.at(parameters))
        }
        for outer in lexicalContext {
            guard
                outer.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil,
                let name = outer.asProtocol((any NamedDeclSyntax).self)?.name.text
            else { continue }
            diagnostics.append(EntityDiagnostic.insideGenericType(outer: name).at(structDecl.name))
        }
    }

    /// Stops at a private struct inside another type, which the generated extension, at file level, could not name.
    private mutating func checkPrivacy(of structDecl: StructDeclSyntax) {
        guard !lexicalContext.isEmpty, let modifier = structDecl.modifiers.first(where: { $0.name.text == "private" })
        else { return }
        let fixIt = FixIt.replace(keyword: modifier.name, with: "fileprivate")
        diagnostics.append(EntityDiagnostic.privateNestedStruct.at(modifier, fixIts: [fixIt]))
    }

    /// The access level the generated members have to spell out to be as visible as the struct.
    ///
    /// A struct without a level of its own takes that of the extension it is declared in. Anything below `package`
    /// needs no word: the members' default is then as wide as the struct itself.
    private func access(of structDecl: StructDeclSyntax) -> String? {
        let levels = ["open", "public", "package", "internal", "fileprivate", "private"]
        let own = structDecl.modifiers.first { levels.contains($0.name.text) }
        let inherited = lexicalContext.first?.as(ExtensionDeclSyntax.self)?.modifiers
            .first { levels.contains($0.name.text) }
        let level = (own ?? inherited)?.name.text
        return level == "public" || level == "package" ? level : nil
    }

    /// The `@available` attributes, without which an extension of a restricted struct does not compile.
    private static func availability(of structDecl: StructDeclSyntax) -> [String] {
        structDecl.attributes
            .compactMap { $0.as(AttributeSyntax.self) }
            .filter { $0.attributeName.trimmedDescription == "available" }
            .map(\.trimmedDescription)
    }

    /// The names of the types a struct declares inside itself, which hide well-known types of the same name.
    private static func typeNames(declaredIn members: MemberBlockSyntax) -> Set<String> {
        Set(
            members.members.compactMap { member in
                let isType =
                    member.decl.is(TypeAliasDeclSyntax.self)
                    || member.decl.asProtocol((any DeclGroupSyntax).self) != nil
                return isType ? member.decl.asProtocol((any NamedDeclSyntax).self)?.name.text : nil
            }
        )
    }

    private static func notAStruct(_ declaration: some DeclGroupSyntax, attribute: AttributeSyntax) -> Diagnostic {
        if let classDecl = declaration.as(ClassDeclSyntax.self) {
            EntityDiagnostic.notAStruct(kind: "a class")
                .at(classDecl.classKeyword, fixIts: [.replace(keyword: classDecl.classKeyword, with: "struct")])
        } else if let actorDecl = declaration.as(ActorDeclSyntax.self) {
            EntityDiagnostic.notAStruct(kind: "an actor")
                .at(actorDecl.actorKeyword, fixIts: [.replace(keyword: actorDecl.actorKeyword, with: "struct")])
        } else if let enumDecl = declaration.as(EnumDeclSyntax.self) {
            EntityDiagnostic.notAStruct(kind: "an enum").at(enumDecl.enumKeyword)
        } else {
            EntityDiagnostic.notAStruct(kind: "this declaration").at(attribute)
        }
    }
}
