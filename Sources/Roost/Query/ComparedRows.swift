// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Rows in an order that no key expresses. Of each row only what its criteria compare is kept: keys, texts, and objects
/// where nothing less will do. With a limit at most twice as many rows as are wanted.
struct ComparedRows {
    private enum Value {
        case key([UInt8])
        case text(String)
        case object(Any)
    }

    private struct Row {
        let values: [Value]
        let id: [UInt8]
        let record: UnsafeRawBufferPointer
    }

    private let order: RequestedOrder
    private let layout: RecordLayout
    /// The offset counted in.
    private let limit: Int?
    private var rows: [Row] = []
    private var threshold: Row?
    private var scratch = KeyBytes()

    init(_ order: RequestedOrder, _ layout: RecordLayout, limit: Int?) {
        self.order = order
        self.layout = layout
        self.limit = limit
    }

    mutating func add(_ view: RecordView) throws {
        var values: [Value] = []
        values.reserveCapacity(order.terms.count)
        for term in order.terms {
            switch term.criterion {
            case .field(let position):
                scratch.removeAll()
                try scratch.append(sortKeyOf: position, view, descending: term.descending)
                values.append(.key(scratch.bytes))
            case .text(let position, _): values.append(.text(try view.text(position)))
            case .object(let comparison): values.append(.object(try comparison.decode(view)))
            }
        }
        let row = Row(values: values, id: Array(view.key), record: view.record)
        if let threshold, !Self.precedes(row, threshold, order) { return }
        rows.append(row)
        guard let limit, rows.count >= max(2 * limit, 64) else { return }
        try sort()
        rows.removeLast(rows.count - limit)
        threshold = rows.last
    }

    private static func precedes(_ a: Row, _ b: Row, _ order: RequestedOrder) -> Bool {
        for (number, term) in order.terms.enumerated() {
            switch (term.criterion, a.values[number], b.values[number]) {
            // The direction is in the keys.
            case (_, .key(let left), .key(let right)):
                if left != right { return left.precedesAsKey(right) }
            case (.text(_, let comparator), .text(let left), .text(let right)):
                let result = comparator.compare(left, right)
                if result != .orderedSame { return (result == .orderedAscending) != term.descending }
            case (.object(let comparison), .object(let left), .object(let right)):
                let result = comparison.compare(left, right)
                if result != .orderedSame { return result == .orderedAscending }
            default: break
            }
        }
        return order.idDescending ? b.id.precedesAsKey(a.id) : a.id.precedesAsKey(b.id)
    }

    private mutating func sort() throws {
        var probe = CancellationProbe()
        let order = order
        try rows.sort { a, b in
            try probe.step()
            return Self.precedes(a, b, order)
        }
    }

    /// The rows in order, without the first `offset`.
    consuming func sorted(offset: Int) throws -> SortedRows {
        try sort()
        var sorted = SortedRows(width: layout.idKeyWidth)
        for row in rows.prefix(limit ?? Int.max).dropFirst(offset) {
            row.id.withUnsafeBytes { sorted.append($0, row.record) }
        }
        return sorted
    }
}

extension [UInt8] {
    /// The order of `memcmp`, the shorter one first.
    func precedesAsKey(_ other: [UInt8]) -> Bool {
        withUnsafeBytes { a in other.withUnsafeBytes { StoredOrder.of(a, $0) == .less } }
    }
}
