// SPDX-License-Identifier: Apache-2.0

/// A predicate without Swift types: what the planner reads and what is evaluated on records in the map.
///
/// Typed predicates and the tool's conditions are both lowered to it.
indirect enum Filter: Sendable {
    case constant(Bool)
    case compare(Comparison)
    /// The field's value is one of these, none of which is null.
    case isIn(position: Int, values: Set<StoredValue>)
    case isNull(position: Int)
    /// The text begins with this, Character by Character.
    case startsWith(position: Int, prefix: TextPrefix)
    /// The array has this element.
    case hasElement(position: Int, value: StoredValue)
    case not(Filter)
    case and([Filter])
    case or([Filter])
    /// What only the decoded object can answer.
    case object(ObjectTest)

    /// How conditions are joined.
    enum Junction: Sendable { case and, or }

    enum Operation: Sendable { case equal, less, lessOrEqual, greater, greaterOrEqual }

    struct Comparison: Sendable {
        let position: Int
        let operation: Operation
        /// Not null.
        let value: StoredValue
    }

    struct TextPrefix: Sendable {
        let text: String
        /// Its NFC form.
        let bytes: [UInt8]

        init(_ text: String) {
            self.text = text
            bytes = NormalizedText.bytes(of: text)
        }
    }

    /// Whether evaluating it can throw for other reasons than a damaged record.
    var canThrow: Bool {
        switch self {
        case .object(let test): test.canThrow
        case .not(let filter): filter.canThrow
        case .and(let filters), .or(let filters): filters.contains(where: \.canThrow)
        default: false
        }
    }

    /// The filters all of which must hold, in their order, with constants and nested conjunctions resolved. Nil when it can
    /// never hold.
    var conjuncts: [Filter]? {
        switch self {
        case .constant(let holds): return holds ? [] : nil
        case .and(let filters):
            var all: [Filter] = []
            for filter in filters {
                guard let parts = filter.conjuncts else {
                    // What stands before it may throw and is evaluated first, so that it still does.
                    return all.contains(where: \.canThrow) ? all + [.constant(false)] : nil
                }
                all += parts
            }
            return all
        case .isIn(_, let values) where values.isEmpty: return nil
        default: return [self]
        }
    }
}

// MARK: Comparisons, with nil and NaN as Swift has them

extension Filter {
    /// `field == value`, where `.null` stands for nil.
    static func equality(_ position: Int, _ value: StoredValue) -> Filter {
        switch value {
        case .null: .isNull(position: position)
        case .list: .constant(false)
        default: comparison(position, .equal, value)
        }
    }

    /// A comparison with a value that is not null.
    static func comparison(_ position: Int, _ operation: Operation, _ value: StoredValue) -> Filter {
        if value.isNaN { return .constant(false) }
        return .compare(.init(position: position, operation: operation, value: value))
    }
}

// MARK: Evaluation

extension Filter {
    func matches(_ view: RecordView) throws -> Bool {
        switch self {
        case .constant(let holds): return holds
        case .compare(let comparison): return try comparison.holds(view)
        case .isIn(let position, let values):
            if view.isNull(position) { return false }
            let value = try view.value(position)
            if value.isNaN { return false }
            return values.contains(value)
        case .isNull(let position): return view.isNull(position)
        case .startsWith(let position, let prefix): return try prefix.matches(view, position)
        case .hasElement(let position, let value):
            if view.isNull(position) { return false }
            return try view.hasElement(position, value)
        case .not(let filter): return try !filter.matches(view)
        case .and(let filters):
            for filter in filters where try !filter.matches(view) { return false }
            return true
        case .or(let filters):
            for filter in filters where try filter.matches(view) { return true }
            return false
        case .object(let test): return try test.evaluate(view)
        }
    }
}

extension Filter.Comparison {
    func holds(_ view: RecordView) throws(RecordFailure) -> Bool {
        if view.isNull(position) { return false }
        let field = view.layout.fields[position]
        guard let scalar = field.scalar else { return false }
        let bytes = try view.bytes(position)
        let order: StoredOrder
        if case .key = field.location {
            order = .of(try scalar.codec.read(key: bytes).storedValue, value)
        } else {
            order = try scalar.order(stored: bytes, value)
        }
        return operation.holds(order)
    }
}

extension Filter.Operation {
    @inline(__always)
    func holds(_ order: StoredOrder) -> Bool {
        switch self {
        case .equal: order == .equal
        case .less: order == .less
        case .lessOrEqual: order == .less || order == .equal
        case .greater: order == .greater
        case .greaterOrEqual: order == .greater || order == .equal
        }
    }
}

extension Filter.TextPrefix {
    func matches(_ view: RecordView, _ position: Int) throws(RecordFailure) -> Bool {
        if view.isNull(position) { return false }
        let utf8 = try view.bytes(position)
        // Most records do not even share the prefix's bytes; the rest is decided by Characters, as Swift's does.
        let sharesBytes = NormalizedText.withNormalized(utf8) { bytes in
            bytes.count >= self.bytes.count
                && self.bytes.withUnsafeBytes {
                    StoredOrder.of(UnsafeRawBufferPointer(rebasing: bytes[..<$0.count]), $0) == .equal
                }
        }
        return sharesBytes ? try String.load(utf8).starts(with: text) : false
    }
}

extension RecordView {
    func hasElement(_ position: Int, _ wanted: StoredValue) throws(RecordFailure) -> Bool {
        var found = false
        try Self.forEachElement(try bytes(position), layout.fields[position].type) {
            (element, type) throws(RecordFailure) in
            if found { return }
            guard let element else {
                found = wanted == .null
                return
            }
            if let scalar = type.scalar, case .scalar = type {
                found = try scalar.order(stored: element, wanted) == .equal
            } else {
                found = try Self.value(element, type) == wanted
            }
        }
        return found
    }
}
