// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A node of a predicate where it lies in memory.
///
/// Nodes hold their operands inline: the value of a chain of a thousand terms takes some fifty kilobytes, and so does each
/// part of it but the last. Hence nodes are pointed at and never copied; `node.lhs` points at the operand.
///
/// Valid as long as the predicate is.
@dynamicMemberLookup
struct Operand<Node> {
    private let address: UnsafePointer<Node>
    /// Keeps the memory of a node that does not lie in the predicate.
    private let owner: AnyObject?

    init(_ address: UnsafePointer<Node>) { self.init(address, owner: nil) }

    private init(_ address: UnsafePointer<Node>, owner: AnyObject?) {
        self.address = address
        self.owner = owner
    }

    subscript<Child: PredicateExpression>(dynamicMember path: KeyPath<Node, Child>) -> Operand<Child> {
        @inline(__always) get {
            if let child = address.pointer(to: path) { return Operand<Child>(child, owner: owner) }
            return copied(path)
        }
    }

    subscript<Value>(dynamicMember path: KeyPath<Node, Value>) -> Value {
        @inline(__always) get { address.pointer(to: path)?.pointee ?? address.pointee[keyPath: path] }
    }

    /// The node itself, for those that are small or must be handed on whole.
    func copy() -> Node { address.pointee }

    /// The same node, if it is of this type.
    func node<Other>(as type: Other.Type) -> Operand<Other>? {
        Node.self == Other.self ? rebound(to: type) : nil
    }

    /// The same node under another name of its type.
    fileprivate func rebound<Other>(to _: Other.Type) -> Operand<Other> {
        Operand<Other>(UnsafeRawPointer(address).assumingMemoryBound(to: Other.self), owner: owner)
    }

    /// An operand that is computed rather than stored.
    private func copied<Child>(_ path: KeyPath<Node, Child>) -> Operand<Child> {
        let copy = Copy(address.pointee[keyPath: path])
        return Operand<Child>(copy.address, owner: copy)
    }

    private final class Copy<Value> {
        let address: UnsafePointer<Value>

        init(_ value: Value) {
            let memory = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            memory.initialize(to: value)
            address = UnsafePointer(memory)
        }

        init(of original: UnsafePointer<Value>) {
            let memory = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            memory.initialize(from: original, count: 1)
            address = UnsafePointer(memory)
        }

        deinit {
            let memory = UnsafeMutablePointer(mutating: address)
            memory.deinitialize(count: 1)
            memory.deallocate()
        }
    }
}

// MARK: Dispatch

extension Operand where Node: PredicateExpression {
    /// What it means as an operand of a condition.
    func term(_ context: LoweringContext) throws -> LoweredTerm {
        guard let type = Node.self as? any PredicateNode.Type else { return .unknown }
        func open<N: PredicateNode>(_: N.Type) throws -> LoweredTerm { try N.term(rebound(to: N.self), context) }
        return try context.descend { try open(type) }
    }

    /// A closure that evaluates it without Foundation's traps.
    func compiled(_ context: LoweringContext) throws -> Compiled<Node.Output> {
        try context.countPart()
        guard let type = Node.self as? any PredicateNode.Type else { return try foreign(context) }
        func open<N: PredicateNode>(_: N.Type) throws -> Compiled<Node.Output> {
            try N.compile(rebound(to: N.self), context).rebound(to: Node.Output.self)
        }
        return try context.compile { try open(type) }
    }

    /// A node that is not known here, or an operation of it: left to Foundation with all that stands below.
    func foreign(_ context: LoweringContext) throws -> Compiled<Node.Output> {
        // Copied from memory to memory: the stack need not hold it.
        let (expression, bindRoot) = (Copy(of: address), context.bindRoot)
        let compiled = Compiled<Node.Output>([.canFail, .readsObject]) { evaluation in
            var bindings = evaluation.bindings
            if let object = evaluation.object { bindRoot(&bindings, object) }
            return try expression.address.pointee.evaluate(bindings)
        }
        // As large as the chain below.
        return MemoryLayout<Node>.size > 4_096 ? compiled.onLargeStack() : compiled
    }
}

extension Operand where Node: PredicateExpression<Bool> {
    /// The condition that it states; a test of the object where nothing better is known.
    func condition(_ context: LoweringContext) throws -> Filter {
        try context.countPart()
        return try context.descend {
            if let type = Node.self as? any ConditionNode.Type {
                func open<N: ConditionNode>(_: N.Type) throws -> Filter? { try N.filter(rebound(to: N.self), context) }
                if let filter = try open(type) { return filter }
            } else {
                let term = try term(context)
                if case .constant(let value as Bool) = term { return .constant(value) }
                if let compared = term.comparedField(context), context.fieldType(compared.position).scalar == .bool {
                    return compared.filter(.equality(compared.position, .bool(true))) { $0 == .bool(true) }
                }
            }
            return try context.objectTest(self)
        }
    }

    /// Adds the conditions that `junction` joins here: itself, or what a node of that kind joins.
    func collect(_ junction: Filter.Junction, into parts: inout [Filter], _ context: LoweringContext) throws {
        guard let type = Node.self as? any ConditionNode.Type else { return parts.append(try condition(context)) }
        func open<N: ConditionNode>(_: N.Type, _ parts: inout [Filter]) throws {
            try N.collect(rebound(to: N.self), junction, into: &parts, context)
        }
        try open(type, &parts)
    }
}
