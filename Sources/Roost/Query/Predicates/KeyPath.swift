// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PredicateExpressions.KeyPath: PredicateNode {
    static func term(_ node: Operand<Self>, _ context: LoweringContext) throws -> LoweredTerm {
        guard case .path(let outer) = try node.root.term(context) else { return .unknown }
        guard let outer else { return .path(node.keyPath) }
        guard let path = outer.appending(path: node.keyPath) else { return .unknown }
        return .path(path)
    }

    static func compile(_ node: Operand<Self>, _ context: LoweringContext) throws -> Compiled<Output> {
        let keyPath = node.keyPath
        if let variable = node.root.node(as: PredicateExpressions.Variable<Root.Output>.self),
            context.isRoot(variable.key, Root.Output.self)
        {
            if let position = context.position(of: keyPath) { context.noteField(position) }
            // The object is read where it lies, not copied.
            return Compiled(.readsObject) { try $0.object(as: Root.Output.self).pointee[keyPath: keyPath] }
        }
        let root = try node.root.compiled(context)
        return Compiled(root.traits) { try root($0)[keyPath: keyPath] }
    }
}
