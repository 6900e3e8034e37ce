// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.KeyPath: PredicateNode {
    static func term(_ node: Operand<Self>, _ context: LoweringContext) throws -> LoweredTerm {
        let outer = try node.root.term(context)
        if case .path(nil) = outer { return .path(node.keyPath) }
        if let field = outer.field(context) {
            return context.field(field, continuedBy: node.keyPath).map { .field($0) } ?? .unknown
        }
        guard case .path(let path?) = outer, let joined = path.appending(path: node.keyPath) else { return .unknown }
        return .path(joined)
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let keyPath = node.keyPath
        if let variable = node.root.node(as: PredicateExpressions.Variable<Root.Output>.self),
            context.isRoot(variable.key, Root.Output.self)
        {
            if let field = context.field(of: keyPath) { context.noteField(field.position) }
            // The object is read where it lies, not copied.
            return Compiled(.readsObject) { try $0.object(as: Root.Output.self).pointee[keyPath: keyPath] }
        }
        let root = try node.root.compiled(context)
        return Compiled(root.traits) { try root($0)[keyPath: keyPath] }
    }
}
