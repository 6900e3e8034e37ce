// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What compiled nodes are evaluated against.
struct Evaluation {
    /// The object, of the entity's type; nil where constants are evaluated.
    let object: UnsafeRawPointer?
    /// The variables of inner closures. The object is not among them.
    var bindings: PredicateBindings

    /// Evaluates what needs no object.
    static var withoutObject: Evaluation { Evaluation(object: nil, bindings: PredicateBindings()) }

    @inline(__always)
    func object<T>(as _: T.Type) throws -> UnsafePointer<T> {
        guard let object else { throw PredicateFailure.unboundVariable }
        return object.assumingMemoryBound(to: T.self)
    }
}

/// What is known of a compiled node and all below it.
struct CompiledTraits: OptionSet {
    let rawValue: UInt8
    /// It has no value on some objects.
    static let canFail = CompiledTraits(rawValue: 1)
    static let readsObject = CompiledTraits(rawValue: 2)
    /// It reads the variable of an inner closure, which may be its own.
    static let readsVariable = CompiledTraits(rawValue: 4)
}

/// A node made ready to be evaluated on many objects: its type has been looked into once.
struct Compiled<Output> {
    let traits: CompiledTraits
    private let evaluate: (Evaluation) throws -> Output

    init(_ traits: CompiledTraits, _ evaluate: @escaping (Evaluation) throws -> Output) {
        self.traits = traits
        self.evaluate = evaluate
    }

    @inline(__always)
    func callAsFunction(_ evaluation: Evaluation) throws -> Output { try evaluate(evaluation) }

    /// The same under another name of its type.
    func rebound<Other>(to _: Other.Type) -> Compiled<Other> {
        precondition(Output.self == Other.self, "internal inconsistency: a compiled node of another type")
        return unsafeBitCast(self, to: Compiled<Other>.self)
    }

    /// The same, evaluated and freed on a stack that is large enough for it.
    func onLargeStack() -> Compiled {
        let deep = Deep(evaluate: evaluate)
        return Compiled(traits) { evaluation in
            try LargeStack.run { try deep.evaluate(evaluation) }
        }
    }

    private final class Deep {
        private var held: ((Evaluation) throws -> Output)?

        init(evaluate: @escaping (Evaluation) throws -> Output) { held = evaluate }

        func evaluate(_ evaluation: Evaluation) throws -> Output {
            guard let held else { throw PredicateFailure.unboundVariable }
            return try held(evaluation)
        }

        deinit {
            // Closures inside closures: freeing them recurses as deep as evaluating them.
            try? LargeStack.run { held = nil }
        }
    }
}
