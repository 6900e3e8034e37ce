// SPDX-License-Identifier: Apache-2.0

import SwiftDiagnostics
import SwiftSyntax

/// Every complaint `@Entity` can make. Each says what is wrong and, after the colon, what to do.
enum EntityDiagnostic: DiagnosticMessage {
    case notAStruct(kind: String)
    case genericStruct
    case insideGenericType(outer: String)
    case privateNestedStruct
    case missingID
    case hiddenID(access: String)
    case optionalID
    case computedID
    case arrayID
    case letWithValue(name: String)
    case lazyProperty(name: String)
    case unstorableReference(modifier: String, name: String)
    case attribute(name: String)
    case conditional(name: String)
    case pattern
    case missingType(name: String)
    case implicitlyUnwrapped
    case nestedOptional
    case unstorable(what: String, advice: String)

    var message: String {
        switch self {
        case .notAStruct(let kind):
            "@Entity needs a struct: \(kind) cannot be an entity"
        case .genericStruct:
            "@Entity needs a struct without generic parameters: write one struct for each type that is stored"
        case .insideGenericType(let outer):
            "@Entity needs a struct outside generic types: move it out of \(outer)"
        case .privateNestedStruct:
            "@Entity cannot extend a private struct inside another type: make it 'fileprivate'"
        case .missingID:
            "@Entity needs a stored property named id: add one, such as 'var id: Int'"
        case .hiddenID(let access):
            "the id of a \(access) entity must be visible wherever the entity is: make it '\(access)'"
        case .optionalID:
            "an id cannot be optional: every stored entity has one, so remove the optional"
        case .computedID:
            "an id cannot be computed: make it a stored property, such as 'var id: Int'"
        case .arrayID:
            "an id cannot be an array: use one value, such as an Int or a String"
        case .letWithValue(let name):
            "Roost cannot load '\(name)', a 'let' that already has its value: make it 'var' or 'static let'"
        case .lazyProperty(let name):
            "Roost cannot store the lazy property '\(name)': remove 'lazy' or make it computed"
        case .unstorableReference(let modifier, let name):
            "Roost cannot store the \(modifier) reference '\(name)': use a Ref to another entity"
        case .attribute(let name):
            "Roost cannot store a property with '@\(name)': remove the attribute, or make the property computed"
        case .conditional(let name):
            "Roost cannot store '\(name)' inside '#if', as the record would differ between builds: move it out"
        case .pattern:
            "Roost cannot store properties declared as a tuple: declare each with its own 'var'"
        case .missingType(let name):
            "Roost cannot see the type of '\(name)' here: write it out"
        case .implicitlyUnwrapped:
            "Roost cannot store an implicitly unwrapped optional: use '?' in place of '!'"
        case .nestedOptional:
            "Roost cannot store an optional of an optional: use one '?'"
        case .unstorable(let what, let advice):
            "Roost cannot store \(what): \(advice)"
        }
    }

    /// The stable part of the diagnostic's identity, for tools that filter by it.
    private var id: String {
        switch self {
        case .notAStruct: "notAStruct"
        case .genericStruct: "genericStruct"
        case .insideGenericType: "insideGenericType"
        case .privateNestedStruct: "privateNestedStruct"
        case .missingID: "missingID"
        case .hiddenID: "hiddenID"
        case .optionalID: "optionalID"
        case .computedID: "computedID"
        case .arrayID: "arrayID"
        case .letWithValue: "letWithValue"
        case .lazyProperty: "lazyProperty"
        case .unstorableReference: "unstorableReference"
        case .attribute: "attribute"
        case .conditional: "conditional"
        case .pattern: "pattern"
        case .missingType: "missingType"
        case .implicitlyUnwrapped: "implicitlyUnwrapped"
        case .nestedOptional: "nestedOptional"
        case .unstorable: "unstorable"
        }
    }

    var diagnosticID: MessageID { MessageID(domain: "RoostMacros", id: id) }

    var severity: DiagnosticSeverity { .error }

    /// The diagnostic at the node the user has to look at.
    func at(
        _ node: some SyntaxProtocol,
        notes: [Note] = [],
        fixIts: [FixIt] = []
    ) -> Diagnostic {
        Diagnostic(node: Syntax(node), message: self, notes: notes, fixIts: fixIts)
    }
}

/// A remark that goes with an error.
struct EntityNote: NoteMessage {
    let message: String

    var noteID: MessageID { MessageID(domain: "RoostMacros", id: "note") }
}
