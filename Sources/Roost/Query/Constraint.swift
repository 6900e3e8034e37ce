// SPDX-License-Identifier: Apache-2.0

/// What the conjuncts of a predicate say about one field, in a form that keys can express.
///
/// Made by `Constraints` and not changed afterwards; a class, so that the planner's parts share it.
final class Constraint {
    let position: Int
    /// The field's value is one of these, each once, which may include null. Nil when no conjunct says so.
    fileprivate(set) var points: [StoredValue]?
    fileprivate(set) var lower: (value: StoredValue, isIncluded: Bool)?
    fileprivate(set) var upper: (value: StoredValue, isIncluded: Bool)?
    fileprivate(set) var prefix: Filter.TextPrefix?
    /// For arrays: an element that must be there.
    fileprivate(set) var element: StoredValue?
    /// Which conjuncts it was made of.
    fileprivate(set) var sources: [Int] = []

    fileprivate init(_ position: Int) { self.position = position }

    var isRange: Bool { lower != nil || upper != nil || prefix != nil }

    /// Returns false when it already says something that this cannot be joined with; the conjunct is then only tested.
    fileprivate func absorb(_ conjunct: Filter) -> Bool {
        switch conjunct {
        case .compare(let comparison):
            let value = comparison.value
            switch comparison.operation {
            case .equal: intersect(value)
            case .greater, .greaterOrEqual:
                guard lower == nil else { return false }
                lower = (value, comparison.operation == .greaterOrEqual)
            case .less, .lessOrEqual:
                guard upper == nil else { return false }
                upper = (value, comparison.operation == .lessOrEqual)
            }
        case .isIn(_, let values): points = points.map { $0.filter(values.contains) } ?? Array(values)
        case .isNull: intersect(.null)
        case .startsWith(_, let text):
            guard prefix == nil else { return false }
            prefix = text
        case .hasElement(_, let value):
            guard element == nil else { return false }
            element = value
        default: return false
        }
        return true
    }

    private func intersect(_ value: StoredValue) {
        points = points.map { $0.contains(value) ? [value] : [] } ?? [value]
    }
}

// MARK: As ranges of keys

extension Constraint {
    /// The ranges of an index's component that it leaves, behind each prefix; and whether they are exactly what it says.
    /// Nil when it is no range.
    func ranges(
        of index: StoredIndex, component number: Int, behind prefixes: [KeyBytes]
    ) -> ([KeyRange], isExact: Bool)? {
        guard isRange else { return nil }
        let component = index.components[number]
        var isExact = true
        let ranges = prefixes.compactMap { start -> KeyRange? in
            let range = range(isOptional: component.isOptional, textLimit: index.textLimit, behind: start.bytes)
            isExact = isExact && range?.isExact == true
            return range?.range
        }
        return (ranges, isExact)
    }

    /// The range of a value's keys that it leaves, behind a prefix, and whether that is exactly what it says. Nil when it is no
    /// range.
    func range(isOptional: Bool, textLimit: Int, behind start: [UInt8]) -> (range: KeyRange, isExact: Bool)? {
        guard isRange else { return nil }
        var isExact = prefix == nil
        // Null is below every bound, and no comparison with it holds.
        let present = isOptional ? start + [1] : start
        func encoded(_ value: StoredValue) -> (bytes: [UInt8], isExact: Bool) {
            var key = KeyBytes()
            key.append(present)
            let isExact = key.append(value, limit: textLimit)
            return (key.bytes, isExact)
        }
        /// Up to where a cut value agrees with every longer one.
        func cut(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.dropLast(9)) }

        var range = KeyRange(prefix: present)
        if let (value, isIncluded) = lower {
            let (key, exact) = encoded(value)
            isExact = isExact && exact
            let low = !exact ? cut(key) : isIncluded ? key : KeyRange.successor(ofPrefix: key)
            // No key is above one of FF alone: then nothing is above the greatest value.
            range = range.intersection(
                low.map { KeyRange(lower: $0, upper: nil) } ?? KeyRange(lower: key, upper: key))
        }
        if let (value, isIncluded) = upper {
            let (key, exact) = encoded(value)
            isExact = isExact && exact
            let high =
                !exact
                ? KeyRange.successor(ofPrefix: cut(key)) : isIncluded ? KeyRange.successor(ofPrefix: key) : key
            range = range.intersection(KeyRange(lower: [], upper: high))
        } else if let greatest = lower?.value.greatestOrdered {
            let high = KeyRange.successor(ofPrefix: encoded(greatest).bytes)
            range = range.intersection(KeyRange(lower: [], upper: high))
        }
        if let text = prefix {
            var key = KeyBytes()
            key.append(present)
            let textStart = key.count
            // Without the end; a cut prefix loses its hash, too.
            if text.bytes.withUnsafeBytes({ key.append(escaping: $0, limit: textLimit) }) {
                key.truncate(to: key.count - 1)
            } else {
                key.truncate(to: textStart + textLimit)
            }
            range = range.intersection(KeyRange(prefix: key.bytes))
        }
        return (range, isExact)
    }
}

/// The constraints of a predicate, at most one a field: few, so they are searched in their order.
struct Constraints {
    private var list: [Constraint] = []

    var all: [Constraint] { list }

    /// Conjuncts behind one that can throw are left alone: a narrower scan would keep the predicate from throwing where it
    /// must.
    init(_ conjuncts: [Filter]) {
        for (number, conjunct) in conjuncts.enumerated() {
            if conjunct.canThrow { break }
            guard let position = conjunct.constrainedPosition else { continue }
            let known = self[position]
            let constraint = known ?? Constraint(position)
            if constraint.absorb(conjunct) {
                constraint.sources.append(number)
                if known == nil { list.append(constraint) }
            }
        }
    }

    subscript(position: Int) -> Constraint? {
        for constraint in list where constraint.position == position { return constraint }
        return nil
    }

    /// Whether some field would have to have no value at all.
    var excludeEverything: Bool { list.contains { $0.points?.isEmpty == true } }
}

extension [Filter] {
    /// All but those at `positions`, which may be as many.
    func removing(at positions: [Int]) -> [Filter] {
        if positions.count == count { return [] }
        var isRemoved = [Bool](repeating: false, count: count)
        for position in positions { isRemoved[position] = true }
        return indices.filter { !isRemoved[$0] }.map { self[$0] }
    }
}

extension Filter {
    fileprivate var constrainedPosition: Int? {
        switch self {
        case .compare(let comparison): comparison.position
        case .isIn(let position, _), .isNull(let position), .startsWith(let position, _), .hasElement(let position, _):
            position
        default: nil
        }
    }
}
