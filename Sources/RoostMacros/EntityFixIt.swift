// SPDX-License-Identifier: Apache-2.0

import SwiftDiagnostics
import SwiftSyntax

/// The text of a repair an editor can offer.
struct EntityFixIt: FixItMessage {
    let message: String

    var fixItID: MessageID { MessageID(domain: "RoostMacros", id: "fixIt") }
}

extension FixIt {
    /// A repair that replaces one node, keeping the space and comments around it.
    static func replace(_ node: some SyntaxProtocol, with new: some SyntaxProtocol, _ message: String) -> FixIt {
        var replacement = Syntax(new)
        replacement.leadingTrivia = node.leadingTrivia
        replacement.trailingTrivia = node.trailingTrivia
        return FixIt(
            message: EntityFixIt(message: message),
            changes: [.replace(oldNode: Syntax(node), newNode: replacement)]
        )
    }

    /// A repair that replaces a type with another, given as source text.
    static func replace(type: TypeSyntax, with text: String) -> FixIt {
        replace(type, with: TypeSyntax("\(raw: text)"), "use '\(text)'")
    }

    /// A repair that replaces the word that introduces a declaration.
    static func replace(keyword: TokenSyntax, with text: String) -> FixIt {
        replace(keyword, with: TokenSyntax(.identifier(text), presence: .present), "use '\(text)'")
    }

    /// A repair that takes a modifier such as `lazy` away, with the space after it.
    static func remove(_ modifier: DeclModifierSyntax) -> FixIt {
        let nothing = TokenSyntax(.identifier(""), leadingTrivia: modifier.leadingTrivia, presence: .present)
        return FixIt(
            message: EntityFixIt(message: "remove '\(modifier.trimmedDescription)'"),
            changes: [.replace(oldNode: Syntax(modifier), newNode: Syntax(nothing))]
        )
    }

    /// A repair that writes a placeholder for the type after a property's name.
    static func annotate(_ pattern: PatternSyntax) -> FixIt {
        let annotated = TokenSyntax(.identifier(pattern.trimmedDescription + ": <#Type#>"), presence: .present)
        return replace(pattern, with: annotated, "add the type")
    }

    /// A repair that puts a stored `id` at the top of a struct.
    static func addID(to members: MemberBlockSyntax) -> FixIt {
        let first = members.members.first?.firstToken(viewMode: .sourceAccurate)
        let indentation = first?.leadingTrivia.lastLineIndentation
        let line = indentation.map { "\n\($0)var id: Int" } ?? " var id: Int"
        let separator = indentation == nil && first != nil ? ";" : ""
        let brace = TokenSyntax(
            .identifier("{" + line + separator),
            leadingTrivia: members.leftBrace.leadingTrivia,
            trailingTrivia: members.leftBrace.trailingTrivia,
            presence: .present
        )
        return FixIt(
            message: EntityFixIt(message: "add 'var id: Int'"),
            changes: [.replace(oldNode: Syntax(members.leftBrace), newNode: Syntax(brace))]
        )
    }
}

extension Trivia {
    /// The spaces or tabs a line starts with, or `nil` if this trivia does not start a line.
    fileprivate var lastLineIndentation: String? {
        let text = description
        guard let lineBreak = text.lastIndex(where: \.isNewline) else { return nil }
        return String(text[text.index(after: lineBreak)...].prefix { $0 == " " || $0 == "\t" })
    }
}
