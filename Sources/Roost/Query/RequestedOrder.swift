// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The order of a result: criteria, then the ID.
struct RequestedOrder: Sendable {
    /// What a criterion compares.
    enum Criterion: Sendable {
        /// A field whose stored order is the wanted one, so that a key expresses it.
        case field(Int)
        /// A text field, by a comparison that no key expresses.
        case text(Int, String.StandardComparator)
        /// The decoded objects.
        case object(ObjectComparison)
    }

    struct Term: Sendable {
        let criterion: Criterion
        let descending: Bool
    }

    private(set) var terms: [Term] = []
    /// The direction of the tie-breaker, the ID.
    private(set) var idDescending = false
    /// Whether keys express every criterion; if not, no index gives the order.
    private(set) var isKeyed = true
    /// Whether the ID is among the criteria: what follows decides nothing.
    private var isTotal = false

    mutating func append(_ criterion: Criterion, descending: Bool) {
        if isTotal { return }
        terms.append(Term(criterion: criterion, descending: descending))
        idDescending = descending
        if case .field(let position) = criterion { isTotal = position == 0 } else { isKeyed = false }
    }

    /// Whether the ID alone gives the order.
    var isByID: Bool {
        guard let first = terms.first else { return true }
        if case .field(0) = first.criterion { return true }
        return false
    }

    /// Whether the order of the records' keys is this one. Keys that other Unicode data made are only a tie-breaker.
    func isByKey(of entity: StoredEntity) -> Bool { isByID && (terms.isEmpty || !entity.hasForeignIDs) }
}

extension RequestedOrder {
    /// Appends what `memcmp` compares the object by, where keys express the order: the criteria's values, then the ID, each
    /// turned around where it descends.
    func appendKey(of view: RecordView, to keys: inout KeyBytes) throws(RecordFailure) {
        try appendCriteria(of: view, to: &keys)
        append(id: view.key, to: &keys)
    }

    func appendCriteria(of view: RecordView, to keys: inout KeyBytes) throws(RecordFailure) {
        for term in terms {
            guard case .field(let position) = term.criterion else { continue }
            try keys.append(sortKeyOf: position, view, descending: term.descending)
        }
    }

    func append(id: UnsafeRawBufferPointer, to keys: inout KeyBytes) {
        let start = keys.count
        keys.append(id)
        if idDescending { keys.invert(from: start) }
    }

    /// The fields whose values are in the key.
    var fields: Set<Int> {
        Set(
            terms.compactMap { term in
                if case .field(let position) = term.criterion { return position }
                return nil
            })
    }
}

/// A comparison of decoded objects, whatever their type.
struct ObjectComparison: Sendable {
    let decode: @Sendable (RecordView) throws -> Any
    /// Of two objects that `decode` has made. The direction is in it.
    let compare: @Sendable (Any, Any) -> ComparisonResult
}

extension RequestedOrder.Criterion {
    init<T: Entity>(comparing descriptor: SortDescriptor<T>, _ binding: EntityBinding) {
        let layout = binding.entity.layout
        if var comparator = descriptor.stringComparator, let keyPath = descriptor.keyPath,
            let position = binding.field(of: keyPath)?.position, layout.fields[position].type == .scalar(.string)
        {
            // The term has the direction.
            comparator.order = .forward
            self = .text(position, comparator)
            return
        }
        let entity = binding.entity
        self = .object(
            ObjectComparison(
                decode: { view in try T.decoded(key: view.key, record: view.record, handle: entity.handle) },
                compare: { a, b in
                    guard let a = a as? T, let b = b as? T else { return .orderedSame }
                    return descriptor.compare(a, b)
                }))
    }
}
