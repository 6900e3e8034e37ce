// SPDX-License-Identifier: Apache-2.0

import SwiftSyntax

/// A type that the way it is written already rules out, such as a tuple or a function.
struct UnstorableForm {
    let what: String
    let advice: String

    static func of(_ type: TypeSyntax) -> UnstorableForm? {
        if type.is(DictionaryTypeSyntax.self) {
            return UnstorableForm(what: UnstorableType.dictionary.what, advice: UnstorableType.dictionary.advice)
        }
        if type.is(TupleTypeSyntax.self) {
            return UnstorableForm(what: "a tuple", advice: "use a property for each of its parts")
        }
        if type.is(FunctionTypeSyntax.self) {
            return UnstorableForm(what: "a function", advice: "make the property computed or static")
        }
        if type.is(MetatypeTypeSyntax.self) {
            return UnstorableForm(what: "a metatype", advice: "store the type's name as String")
        }
        if type.is(CompositionTypeSyntax.self) {
            return UnstorableForm(what: "a composition of protocols", advice: "use a concrete type")
        }
        if let opaque = type.as(SomeOrAnyTypeSyntax.self) {
            let isAny = opaque.someOrAnySpecifier.tokenKind == .keyword(.any)
            return UnstorableForm(what: isAny ? "an 'any' type" : "a 'some' type", advice: "use a concrete type")
        }
        return nil
    }
}
