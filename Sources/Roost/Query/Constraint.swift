// SPDX-License-Identifier: Apache-2.0

/// What the conjuncts of a predicate say about one field, in a form that keys can express.
struct Constraint {
    /// The field's value is one of these, which may include null. Nil when no conjunct says so.
    var points: Set<StoredValue>?
    var lower: (value: StoredValue, isIncluded: Bool)?
    var upper: (value: StoredValue, isIncluded: Bool)?
    var prefix: Filter.TextPrefix?
    /// For arrays: an element that must be there.
    var element: StoredValue?
    /// Which conjuncts it was made of.
    var sources: [Int] = []

    /// Collects the constraints by field. Conjuncts behind one that can throw are left alone: a narrower scan would keep
    /// the predicate from throwing where it must.
    static func collect(_ conjuncts: [Filter]) -> [Int: Constraint] {
        var constraints: [Int: Constraint] = [:]
        for (number, conjunct) in conjuncts.enumerated() {
            if conjunct.canThrow { break }
            guard let position = conjunct.constrainedPosition else { continue }
            var constraint = constraints[position] ?? Constraint()
            if constraint.absorb(conjunct) {
                constraint.sources.append(number)
                constraints[position] = constraint
            }
        }
        return constraints
    }

    /// Returns false when it already says something that this cannot be joined with; the conjunct is then only tested.
    private mutating func absorb(_ conjunct: Filter) -> Bool {
        switch conjunct {
        case .compare(let comparison):
            let value = comparison.value
            switch comparison.operation {
            case .equal: intersect([value])
            case .greater, .greaterOrEqual:
                guard lower == nil else { return false }
                lower = (value, comparison.operation == .greaterOrEqual)
            case .less, .lessOrEqual:
                guard upper == nil else { return false }
                upper = (value, comparison.operation == .lessOrEqual)
            }
        case .isIn(_, let values): intersect(values)
        case .isNull: intersect([.null])
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

    private mutating func intersect(_ values: Set<StoredValue>) {
        points = points.map { $0.intersection(values) } ?? values
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
