// SPDX-License-Identifier: Apache-2.0

import SwiftDiagnostics
import SwiftSyntax

/// Looks through the spelling of a type for what Roost cannot store.
///
/// The compiler has the last word, since a macro does not know what a name stands for. This check is there for the
/// types people try first, to say what to use instead, where the compiler could only name a missing conformance.
struct TypeChecker {
    /// Types that the entity declares inside itself: their names mean them and not the well-known types.
    let ownTypes: Set<String>

    /// Everything in a type that cannot be stored, at the narrowest node that is at fault.
    func problems(in type: TypeSyntax) -> [Diagnostic] {
        if let inner = OptionalForm(type) {
            if OptionalForm(inner.wrapped) != nil {
                let fixIts = [FixIt.replace(type: type, with: inner.wrapped.trimmedDescription)]
                return [EntityDiagnostic.nestedOptional.at(type, fixIts: fixIts)]
            }
            return problems(in: inner.wrapped)
        }
        if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            let fixIt = FixIt.replace(type: type, with: unwrapped.wrappedType.trimmedDescription + "?")
            return [EntityDiagnostic.implicitlyUnwrapped.at(type, fixIts: [fixIt])]
        }
        if let element = type.arrayElement {
            return problems(in: element)
        }
        if let parenthesized = type.parenthesized {
            return problems(in: parenthesized)
        }
        if let attributed = type.as(AttributedTypeSyntax.self) {
            return problems(in: attributed.baseType)
        }
        return problem(of: type).map { [$0] } ?? []
    }

    /// Why a type cannot be that of an `id`, beyond what holds for every property.
    func refusalOfID(_ type: TypeSyntax) -> Diagnostic? {
        if let form = OptionalForm(type) {
            let fixIts = [FixIt.replace(type: type, with: form.wrapped.trimmedDescription)]
            return EntityDiagnostic.optionalID.at(type, fixIts: fixIts)
        }
        if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            let fixIts = [FixIt.replace(type: type, with: unwrapped.wrappedType.trimmedDescription)]
            return EntityDiagnostic.optionalID.at(type, fixIts: fixIts)
        }
        if type.arrayElement != nil {
            return EntityDiagnostic.arrayID.at(type)
        }
        return type.parenthesized.flatMap(refusalOfID)
    }

    private func problem(of type: TypeSyntax) -> Diagnostic? {
        if let form = UnstorableForm.of(type) {
            return EntityDiagnostic.unstorable(what: form.what, advice: form.advice).at(type)
        }
        guard let name = type.wellKnownName, !ownTypes.contains(name), let known = UnstorableType.named(name) else {
            return nil
        }
        var fixIts: [FixIt] = []
        if let replacement = known.replacement {
            fixIts.append(.replace(type: type, with: replacement))
        } else if known.becomesArray, let element = type.soleGenericArgument {
            fixIts.append(.replace(type: type, with: "[\(element.trimmedDescription)]"))
        }
        // Names such as Character and Result are also taken by types of people's own, which may well be storable.
        var notes: [Note] = []
        if known.isCommonName, type.is(IdentifierTypeSyntax.self) {
            let hint = "if \(name) is a type of your own, write the name of its module before it, as in 'App.\(name)'"
            notes.append(Note(node: Syntax(type), message: EntityNote(message: hint)))
        }
        return EntityDiagnostic.unstorable(what: known.what, advice: known.advice)
            .at(type, notes: notes, fixIts: fixIts)
    }
}

/// An optional in either spelling, `T?` or `Optional<T>`.
private struct OptionalForm {
    let wrapped: TypeSyntax

    init?(_ type: TypeSyntax) {
        if let sugared = type.as(OptionalTypeSyntax.self) {
            wrapped = sugared.wrappedType
        } else if type.wellKnownName == "Optional", let argument = type.soleGenericArgument {
            wrapped = argument
        } else if let parenthesized = type.parenthesized, let form = OptionalForm(parenthesized) {
            wrapped = form.wrapped
        } else {
            return nil
        }
    }
}

extension TypeSyntax {
    /// The name of a type that is spelled bare or with one of the system's modules before it.
    var wellKnownName: String? {
        if let identifier = self.as(IdentifierTypeSyntax.self) {
            return identifier.name.text.withoutBackticks
        }
        let modules: Set = [
            "Swift", "Foundation", "FoundationEssentials", "ObjectiveC", "CoreFoundation", "CoreGraphics",
        ]
        guard
            let member = self.as(MemberTypeSyntax.self),
            let module = member.baseType.as(IdentifierTypeSyntax.self)?.name.text,
            modules.contains(module)
        else { return nil }
        return member.name.text
    }

    /// The argument of a generic type that has exactly one.
    var soleGenericArgument: TypeSyntax? {
        let clause =
            self.as(IdentifierTypeSyntax.self)?.genericArgumentClause
            ?? self.as(MemberTypeSyntax.self)?.genericArgumentClause
        guard let arguments = clause?.arguments, arguments.count == 1, let argument = arguments.first else {
            return nil
        }
        // The argument's own type differs between SwiftSyntax versions; its first child is the type in all of them.
        return argument.children(viewMode: .sourceAccurate).first?.as(TypeSyntax.self)
    }

    /// The element of an array in either spelling, `[T]` or `Array<T>`.
    var arrayElement: TypeSyntax? {
        if let array = self.as(ArrayTypeSyntax.self) {
            return array.element
        }
        return wellKnownName == "Array" ? soleGenericArgument : nil
    }

    /// The type inside parentheses that make no tuple.
    var parenthesized: TypeSyntax? {
        guard
            let elements = self.as(TupleTypeSyntax.self)?.elements,
            elements.count == 1, let element = elements.first, element.firstName == nil
        else { return nil }
        return element.type
    }
}
