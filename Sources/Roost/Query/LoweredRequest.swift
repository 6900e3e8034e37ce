// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A request without Swift types: what typed requests and the inspector's queries are turned into, and what is planned,
/// counted, read in chunks and observed.
@usableFromInline
struct LoweredRequest: Sendable {
    private(set) var filter: Filter = .constant(true)
    private(set) var order = RequestedOrder()
    /// Nil is none.
    let limit: Int?
    let offset: Int

    /// No store has as many rows: a greater limit or offset means the same, and sums with this one cannot overflow.
    private static let maximumRows = 1 << 48

    init(filter: Filter, order: RequestedOrder, limit: Int?, offset: Int?) {
        self.init(limit: limit, offset: offset)
        self.filter = filter
        self.order = order
    }

    /// Without a predicate and an order; they are added one by one. A negative limit is none, a negative offset 0.
    @usableFromInline
    init(limit: Int?, atMost rows: Int? = nil, offset: Int?) {
        let limit = limit.flatMap { $0 < 0 ? nil : min($0, Self.maximumRows) }
        self.limit = rows.map { min($0, limit ?? $0) } ?? limit
        self.offset = max(0, min(offset ?? 0, Self.maximumRows))
    }

    @usableFromInline
    mutating func restrict<T: Entity>(to predicate: Predicate<T>, _ binding: EntityBinding) throws {
        filter = try Lowering.filter(predicate, binding)
    }

    /// The next sort criterion, if it is a field whose stored order is the wanted one. Returns whether it is.
    @usableFromInline
    mutating func sort(by keyPath: AnyKeyPath?, descending: Bool, _ binding: EntityBinding) -> Bool {
        guard let position = binding.sortPosition(keyPath) else { return false }
        order.append(.field(position), descending: descending)
        return true
    }

    /// The next sort criterion, one that no key expresses.
    @usableFromInline
    mutating func sort<T: Entity>(comparing descriptor: SortDescriptor<T>, _ binding: EntityBinding) {
        order.append(RequestedOrder.Criterion(comparing: descriptor, binding), descending: descriptor.order == .reverse)
    }

    /// The rows in any order: for those who count them.
    var unordered: LoweredRequest {
        LoweredRequest(filter: filter, order: RequestedOrder(), limit: limit, offset: offset)
    }
}

extension LoweredRequest {
    @inlinable
    init<T: Entity>(_ request: FetchDescriptor<T>, atMost rows: Int? = nil, _ binding: EntityBinding) throws {
        self.init(limit: request.fetchLimit, atMost: rows, offset: request.fetchOffset)
        if let predicate = request.predicate { try restrict(to: predicate, binding) }
        for descriptor in request.sortBy {
            // A descriptor with a comparator sorts by that, and not by the stored order.
            let keyPath = descriptor.stringComparator == nil ? descriptor.keyPath : nil
            if !sort(by: keyPath, descending: descriptor.order == .reverse, binding) {
                sort(comparing: descriptor, binding)
            }
        }
    }
}

extension SnapshotContext {
    /// `rows` is how many are wanted at most, whatever the request's own limit.
    ///
    /// Inlinable, so that the request's parts are taken out of it by specialised code.
    @inlinable
    func planner<T: Entity>(
        _ request: FetchDescriptor<T>, _ purpose: Planner.Purpose = .objects, atMost rows: Int? = nil
    ) throws -> Planner {
        let binding = try binding(ObjectIdentifier(T.self), T.entityName)
        return Planner(self, binding, try LoweredRequest(request, atMost: rows, binding), purpose)
    }
}
