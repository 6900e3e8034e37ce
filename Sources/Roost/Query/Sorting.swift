// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Gathers rows and gives them in order, by keys that `memcmp` compares or by a comparison of their own. With a limit it
/// keeps at most twice as many rows as are wanted.
struct SortedRows<Row> {
    private var rows: [Row] = []
    private let limit: Int?
    private let precedes: (Row, Row) -> Bool
    /// With as many rows as are wanted, the last of them: a row that does not precede it need not be made.
    private(set) var threshold: Row?

    /// `limit` counts the offset in.
    init(limit: Int?, precedes: @escaping (Row, Row) -> Bool) {
        self.limit = limit
        self.precedes = precedes
    }

    mutating func add(_ row: Row) {
        if let threshold, !precedes(row, threshold) { return }
        rows.append(row)
        if let limit, rows.count >= max(2 * limit, 64) { cut(limit) }
    }

    private mutating func cut(_ limit: Int) {
        rows.sort(by: precedes)
        rows.removeLast(rows.count - limit)
        threshold = rows.last
    }

    consuming func finish(offset: Int) -> ArraySlice<Row> {
        rows.sort(by: precedes)
        if let limit, rows.count > limit { rows.removeLast(rows.count - limit) }
        return rows.dropFirst(offset)
    }
}

/// The sort key of a record: the criteria's values and the ID, turned around where they descend.
struct SortKeyWriter {
    let fields: [FieldSort]
    let idDescending: Bool
    let layout: RecordLayout

    func append(_ view: RecordView, to key: inout KeyBytes) throws(RecordFailure) {
        for field in fields { try append(field, view, to: &key) }
        let start = key.count
        key.append(view.key)
        if idDescending { key.invert(from: start) }
    }

    func append(_ sort: FieldSort, _ view: RecordView, to key: inout KeyBytes) throws(RecordFailure) {
        let start = key.count
        let field = layout.fields[sort.position]
        if case .key = field.location {
            key.append(view.key)
        } else if let scalar = field.type.scalar {
            if field.type.isOptional { key.append(view.isNull(sort.position) ? UInt8(0) : UInt8(1)) }
            if !view.isNull(sort.position) {
                key.append(stored: try view.bytes(sort.position), scalar, limit: Int.max)
            }
        }
        if sort.descending { key.invert(from: start) }
    }
}

extension [UInt8] {
    /// The order of `memcmp`, the shorter one first.
    func precedesAsKey(_ other: [UInt8]) -> Bool {
        withUnsafeBytes { a in other.withUnsafeBytes { StoredOrder.of(a, $0) == .less } }
    }
}
