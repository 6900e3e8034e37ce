// SPDX-License-Identifier: Apache-2.0

extension Execution {
    /// The rows of a plan that does not give the order, sorted by keys, offset and limit applied: what `payload` makes of
    /// each record, with the record's key. With a limit, `payload` is called only for rows that may be among the wanted.
    func gathered<Payload>(
        by fields: [FieldSort], _ payload: (RecordView) throws -> Payload
    ) throws -> [(object: Payload, id: [UInt8])] {
        let writer = SortKeyWriter(fields: fields, idDescending: order.idDescending, layout: state.layout)
        var rows = SortedRows<(key: [UInt8], object: Payload, id: [UInt8])>(
            limit: plan.limit.map { $0 + plan.offset }
        ) {
            $0.key.precedesAsKey($1.key)
        }
        var key = KeyBytes()
        try forEachView { view in
            key.removeAll()
            try writer.append(view, to: &key)
            if let threshold = rows.threshold, !key.bytes.precedesAsKey(threshold.key) { return }
            rows.add((key.bytes, try payload(view), Array(view.key)))
        }
        return rows.finish(offset: plan.offset).map { ($0.object, $0.id) }
    }

    /// Calls `body` with each candidate that passes the plan's tests, read through the layout.
    func forEachView(_ body: (RecordView) throws -> Void) throws {
        try forEachMatch { _, key, record in
            do {
                try body(try RecordView(key: key, record: record, layout: state.layout))
            } catch let failure as RecordFailure {
                throw state.damaged(failure, key: key, record: record)
            }
            return true
        }
    }
}
