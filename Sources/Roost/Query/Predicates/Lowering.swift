// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Turns a predicate's public expression tree into a `Filter`.
///
/// What has no form that can be tested on records, or names no field, becomes an `ObjectTest` that evaluates just that part
/// on the decoded object.
enum Lowering {
    /// The types of expression lowered before: as many as there are spellings of predicates in the program.
    private static let known = Mutex<Set<ObjectIdentifier>>([])

    /// Throws `predicateTooLarge`. It looks at each node once; a predicate that is nested deeply is lowered on a large stack.
    static func filter<T: Entity>(_ predicate: Predicate<T>, _ binding: EntityBinding) throws -> Filter {
        let context = LoweringContext(T.self, binding, predicate.variable)
        func open<E: PredicateExpression<Bool>>(_ expression: E) throws -> Filter {
            try withUnsafePointer(to: expression) { expression in
                let type = ObjectIdentifier(E.self)
                if known.withLock({ $0.contains(type) }) { return try Operand(expression).condition(context) }
                // The runtime finds a node's `Output` by a recursion of its own, with six kilobytes a level, and keeps it.
                let filter = try LargeStack.runHardlyDeep { try Operand(expression).condition(context) }
                _ = known.withLock { $0.insert(type) }
                return filter
            }
        }
        return try open(predicate.expression)
    }
}

/// What the nodes of a predicate are lowered and compiled against: the entity's fields, whatever its Swift type. Lives as
/// long as one lowering.
final class LoweringContext {
    private let binding: EntityBinding
    private let root: PredicateExpressions.VariableID
    private let objectType: ObjectIdentifier
    private let runTest: ObjectTest.Run
    /// Gives Foundation the object.
    let bindRoot: (inout PredicateBindings, UnsafeRawPointer) -> Void

    init<T: Entity>(_: T.Type, _ binding: EntityBinding, _ variable: PredicateExpressions.Variable<T>) {
        self.binding = binding
        root = variable.key
        objectType = ObjectIdentifier(T.self)
        runTest = ObjectTest.run(T.self, binding.entity)
        bindRoot = { bindings, object in bindings[variable] = object.assumingMemoryBound(to: T.self).pointee }
    }

    private init(_ other: LoweringContext) {
        binding = other.binding
        root = other.root
        objectType = other.objectType
        runTest = other.runTest
        bindRoot = other.bindRoot
    }

    /// One for what is compiled later.
    func another() -> LoweringContext { LoweringContext(self) }

    // MARK: Fields

    func field(of path: AnyKeyPath) -> NamedField? { binding.field(of: path) }
    func field(_ field: NamedField, continuedBy path: AnyKeyPath) -> NamedField? {
        binding.field(field, continuedBy: path)
    }
    func fieldType(_ position: Int) -> FieldType { binding.entity.layout.fields[position].type }

    /// Whether it is the predicate's argument. `type` is the variable's.
    func isRoot(_ id: PredicateExpressions.VariableID, _ type: Any.Type) -> Bool {
        id == root && ObjectIdentifier(type) == objectType
    }

    // MARK: Values of fields under another name

    /// The variables of the optional chains that are being looked into, and the field whose value each stands for.
    private var unwrapped: [(variable: PredicateExpressions.VariableID, field: NamedField)] = []

    /// The field whose value, where it is not nil, the variable stands for.
    func unwrappedField(_ id: PredicateExpressions.VariableID) -> NamedField? {
        unwrapped.last { $0.variable == id }?.field
    }

    var isInsideUnwrapping: Bool { !unwrapped.isEmpty }

    func unwrapping<Result>(
        _ field: NamedField, as id: PredicateExpressions.VariableID, _ body: () throws -> Result
    ) rethrows -> Result {
        unwrapped.append((id, field))
        defer { unwrapped.removeLast() }
        return try body()
    }

    // MARK: Size and depth

    /// Conditions, what joins them, and operations that are evaluated on objects: ten thousand comparisons joined by `||`
    /// and what more anybody may have generated.
    static let maximumParts = 20_000
    /// How deep a recursion may be on the caller's stack. A level takes up to 2 KiB without optimisation.
    private static let smallStackDepth = 64
    /// Beyond so many levels, each of which is a condition on objects in itself, a part is evaluated on the object.
    private static let maximumJunctionDepth = 32

    private var parts = 0
    private var depth = 0
    private var evaluationDepth = 0
    private var deepestEvaluation = 0
    private var junctionDepth = 0

    func countPart() throws {
        parts += 1
        if parts > Self.maximumParts { throw StoreError.predicateTooLarge }
    }

    /// Goes one level down.
    func descend<Result>(_ body: () throws -> Result) throws -> Result {
        depth += 1
        defer { depth -= 1 }
        return depth == Self.smallStackDepth ? try LargeStack.run(body) : try body()
    }

    /// Goes one level down; what is compiled deeper than a small stack may take is evaluated on a large one.
    func compile<Output>(_ body: () throws -> Compiled<Output>) throws -> Compiled<Output> {
        evaluationDepth += 1
        defer { evaluationDepth -= 1 }
        deepestEvaluation = max(deepestEvaluation, evaluationDepth)
        guard evaluationDepth == Self.smallStackDepth else { return try descend(body) }
        deepestEvaluation = evaluationDepth
        let compiled = try descend(body)
        return deepestEvaluation > 2 * Self.smallStackDepth ? compiled.onLargeStack() : compiled
    }

    // MARK: Constants

    /// The value, if it can be had without the object: then it is the same for every object.
    func constant<E: PredicateExpression>(_ operand: Operand<E>) throws -> E.Output? {
        if let value = operand.node(as: PredicateExpressions.Value<E.Output>.self) { return value.value }
        let (parts, fields) = (parts, fields)
        self.parts = 0
        defer { (self.parts, self.fields) = (parts, fields) }
        return try value(try compiled(operand))
    }

    /// The constant as a field would store it, `.null` for nil.
    func storedValue<E: PredicateExpression>(_ operand: Operand<E>, _ term: LoweredTerm) throws -> StoredValue? {
        switch term {
        case .null: .null
        case .constant(let value): value.storedValue
        case .path, .field, .coalesced: nil
        case .unknown: try constant(operand).flatMap(asFieldValue)?.storedValue
        }
    }

    private func value<Output>(_ compiled: Compiled<Output>) throws -> Output? {
        compiled.traits.contains(.readsObject) ? nil : try? compiled(.withoutObject)
    }

    // MARK: Tests of the object

    /// The fields that the part being compiled reads.
    private var fields: [Int] = []

    func noteField(_ position: Int) {
        if !fields.contains(position) { fields.append(position) }
    }

    /// A test of the decoded object, for what has no better form.
    func objectTest<E: PredicateExpression<Bool>>(_ operand: Operand<E>) throws -> Filter {
        fields = []
        let compiled = try compiled(operand)
        if let holds = try value(compiled) { return .constant(holds) }
        return .object(ObjectTest(compiled, reading: fields, runTest))
    }

    private func compiled<E: PredicateExpression>(_ operand: Operand<E>) throws -> Compiled<E.Output> {
        let outer = evaluationDepth
        evaluationDepth = 0
        defer { evaluationDepth = outer }
        return try operand.compiled(self)
    }

    // MARK: Junctions

    /// The conditions that `junction` joins, in their order; neighbours that need the object share it. Nil when it lies too
    /// deep for filters, whose every reader recurses.
    func joined<L: PredicateExpression<Bool>, R: PredicateExpression<Bool>>(
        _ junction: Filter.Junction, _ lhs: Operand<L>, _ rhs: Operand<R>
    ) throws -> [Filter]? {
        if junctionDepth == Self.maximumJunctionDepth { return nil }
        junctionDepth += 1
        defer { junctionDepth -= 1 }
        var parts: [Filter] = []
        try lhs.collect(junction, into: &parts, self)
        try rhs.collect(junction, into: &parts, self)
        return ObjectTest.joined(parts, junction)
    }
}
