// SPDX-License-Identifier: Apache-2.0

import SwiftDiagnostics
import SwiftSyntax

/// Finds the stored properties of a struct.
struct PropertyReader {
    private(set) var stored: [StoredProperty] = []
    private(set) var diagnostics: [Diagnostic] = []

    /// Whether the struct has anything called `id`, even one that cannot be used and has its own complaint.
    private(set) var hasID = false

    private let types: TypeChecker

    /// The access level that `id` must have for the struct to be an entity wherever it is visible, if any.
    private let requiredAccess: String?

    init(ownTypes: Set<String>, requiredAccess: String?) {
        types = TypeChecker(ownTypes: ownTypes)
        self.requiredAccess = requiredAccess
    }

    mutating func read(_ block: MemberBlockSyntax) {
        for member in block.members {
            if let variable = member.decl.as(VariableDeclSyntax.self) {
                read(variable)
            } else if let conditional = member.decl.as(IfConfigDeclSyntax.self) {
                refuseProperties(in: conditional)
            }
        }
    }

    /// Reads all the properties one `var` or `let` declares.
    private mutating func read(_ variable: VariableDeclSyntax) {
        guard !variable.isStatic else { return }
        let bindings = Array(variable.bindings)
        let isStored = bindings.contains { !$0.isComputed }
        if isStored {
            refuseAttributes(of: variable)
        }

        for (index, binding) in bindings.enumerated() {
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
                diagnostics.append(EntityDiagnostic.pattern.at(binding.pattern))
                continue
            }
            let isID = name.text.withoutBackticks == "id"
            hasID = hasID || isID
            if binding.isComputed {
                if isID {
                    diagnostics.append(EntityDiagnostic.computedID.at(name))
                }
                continue
            }
            if isID {
                refuseHiddenID(variable)
            }
            guard storageIsPlain(variable, binding: binding, name: name) else { continue }
            if let type = type(of: bindings, at: index, isID: isID) {
                stored.append(StoredProperty(spelling: name.text, type: type))
            }
        }
    }

    /// Says no to an `id` that is less visible than its entity: other modules could not look the entity up by it.
    private mutating func refuseHiddenID(_ variable: VariableDeclSyntax) {
        guard let requiredAccess else { return }
        let levels = requiredAccess == "package" ? ["package", "public"] : ["public"]
        let isVisible = variable.modifiers.contains { $0.detail == nil && levels.contains($0.name.text) }
        guard !isVisible else { return }
        let keyword = variable.bindingSpecifier
        let hasLevel = variable.modifiers.contains {
            $0.detail == nil && ["private", "fileprivate", "internal", "package"].contains($0.name.text)
        }
        let fixIts = hasLevel ? [] : [FixIt.replace(keyword: keyword, with: "\(requiredAccess) \(keyword.text)")]
        diagnostics.append(EntityDiagnostic.hiddenID(access: requiredAccess).at(keyword, fixIts: fixIts))
    }

    /// Says no to the forms of storage that have no value to write or none that can be set on reading.
    private mutating func storageIsPlain(
        _ variable: VariableDeclSyntax,
        binding: PatternBindingSyntax,
        name: TokenSyntax
    ) -> Bool {
        let name = name.text.withoutBackticks
        if let modifier = variable.modifier("lazy") {
            diagnostics.append(
                EntityDiagnostic.lazyProperty(name: name).at(modifier, fixIts: [.remove(modifier)])
            )
            return false
        }
        if let modifier = variable.modifier("weak") ?? variable.modifier("unowned") {
            diagnostics.append(
                EntityDiagnostic.unstorableReference(modifier: modifier.name.text, name: name).at(modifier)
            )
            return false
        }
        let keyword = variable.bindingSpecifier
        if keyword.tokenKind == .keyword(.let), binding.initializer != nil {
            diagnostics.append(
                EntityDiagnostic.letWithValue(name: name).at(
                    keyword,
                    fixIts: [
                        .replace(keyword: keyword, with: "var"),
                        .replace(keyword: keyword, with: "static let"),
                    ]
                )
            )
            return false
        }
        return true
    }

    /// The type of a stored property, from its annotation, the annotation it shares or its initial value.
    private mutating func type(of bindings: [PatternBindingSyntax], at index: Int, isID: Bool) -> String? {
        let binding = bindings[index]
        if let annotation = binding.typeAnnotation {
            return check(annotation.type, isID: isID)
        }
        if let value = binding.initializer?.value {
            guard let inferred = LiteralType.name(of: value) else {
                let name = binding.pattern.trimmedDescription.withoutBackticks
                diagnostics.append(
                    EntityDiagnostic.missingType(name: name).at(binding.pattern, fixIts: [.annotate(binding.pattern)])
                )
                return nil
            }
            return inferred
        }
        // In `var x, y: Double` the annotation of `y` is also that of `x`, and has been or will be checked there.
        return bindings[index...].lazy.compactMap(\.typeAnnotation).first?.type.trimmedDescription
    }

    private mutating func check(_ type: TypeSyntax, isID: Bool) -> String? {
        if isID, let refusal = types.refusalOfID(type) {
            diagnostics.append(refusal)
            return nil
        }
        let problems = types.problems(in: type)
        diagnostics += problems
        return problems.isEmpty ? type.trimmedDescription : nil
    }

    /// A wrapper or a macro on a property means that what is stored is not what the property shows.
    private mutating func refuseAttributes(of variable: VariableDeclSyntax) {
        let harmless: Set = ["available", "usableFromInline"]
        for case .attribute(let attribute) in variable.attributes {
            let name = attribute.attributeName.trimmedDescription
            if !harmless.contains(name) {
                diagnostics.append(EntityDiagnostic.attribute(name: name).at(attribute))
            }
        }
    }

    private mutating func refuseProperties(in conditional: IfConfigDeclSyntax) {
        for clause in conditional.clauses {
            guard case .decls(let members) = clause.elements else { continue }
            for member in members {
                if let nested = member.decl.as(IfConfigDeclSyntax.self) {
                    refuseProperties(in: nested)
                } else if let variable = member.decl.as(VariableDeclSyntax.self), !variable.isStatic {
                    refuseBindings(of: variable)
                }
            }
        }
    }

    private mutating func refuseBindings(of variable: VariableDeclSyntax) {
        for binding in variable.bindings where !binding.isComputed {
            let name = binding.pattern.trimmedDescription.withoutBackticks
            hasID = hasID || name == "id"
            diagnostics.append(EntityDiagnostic.conditional(name: name).at(binding.pattern))
        }
    }
}

extension VariableDeclSyntax {
    var isStatic: Bool {
        modifier("static") != nil || modifier("class") != nil
    }

    func modifier(_ name: String) -> DeclModifierSyntax? {
        modifiers.first { $0.name.text == name }
    }
}

extension PatternBindingSyntax {
    /// Whether the property has code in place of storage; observers do not count, as they watch over storage.
    var isComputed: Bool {
        guard let accessorBlock else { return false }
        guard case .accessors(let accessors) = accessorBlock.accessors else { return true }
        return accessors.contains { !["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }
}
