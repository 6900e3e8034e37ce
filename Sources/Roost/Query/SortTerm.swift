// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One sort criterion: a field whose stored order is the wanted one, or a comparison of decoded objects.
enum SortTerm<T: Entity> {
    case field(position: Int, descending: Bool)
    case object(SortDescriptor<T>)

    /// Criteria behind the ID decide nothing and are dropped.
    static func terms(_ descriptors: [SortDescriptor<T>], _ binding: EntityBinding) -> [SortTerm] {
        var terms: [SortTerm] = []
        for descriptor in descriptors {
            if let position = binding.sortPosition(descriptor.plainKeyPath) {
                terms.append(.field(position: position, descending: descriptor.order == .reverse))
                if position == 0 { break }
            } else {
                terms.append(.object(descriptor))
            }
        }
        return terms
    }
}

extension SortDescriptor {
    /// What it sorts by. Nil when it has a comparator of its own: it sorts by that, and not by the stored order.
    @inlinable var plainKeyPath: AnyKeyPath? { stringComparator == nil ? keyPath : nil }
}

/// A criterion that a key can express.
struct FieldSort: Equatable, Sendable {
    let position: Int
    let descending: Bool
}

/// The order of a result as the planner sees it.
@usableFromInline
struct RequestedOrder: Sendable {
    /// Nil when some criterion needs the decoded objects: then no index gives the order.
    private(set) var fields: [FieldSort]? = []
    /// The direction of the tie-breaker, the ID.
    private(set) var idDescending = false
    /// Whether the ID is among the criteria: what follows decides nothing.
    private var isTotal = false

    /// The next criterion: the field, or nil for one that needs the objects.
    mutating func append(_ position: Int?, descending: Bool) {
        if isTotal { return }
        idDescending = descending
        if let position {
            fields?.append(FieldSort(position: position, descending: descending))
            isTotal = position == 0
        } else {
            fields = nil
        }
    }
}
