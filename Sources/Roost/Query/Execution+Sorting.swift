// SPDX-License-Identifier: Apache-2.0

extension Execution {
    /// The rows of a plan that does not give the order, sorted, offset and limit applied. Of each candidate a key is kept,
    /// or what the comparison needs, and the place of its record; no object is made.
    func sortedRows() throws -> SortedRows {
        let wanted = request.limit.map { $0 + request.offset }
        return try wrappingErrors {
            if !request.order.isKeyed {
                var rows = ComparedRows(request.order, entity.layout, limit: wanted)
                try forEachMatch { try rows.add($0) }
                return try rows.sorted(offset: request.offset)
            }
            var rows = KeyedRows(request.order, entity.layout, limit: wanted)
            if plan.sortsKeysAlone(request, of: entity), case .index(let index, let ranges) = plan.source {
                try forEachID(index, ranges) { id in
                    try rows.add(id: id)
                    return true
                }
            } else {
                try forEachMatch { try rows.add($0) }
            }
            return try rows.sorted(offset: request.offset)
        }
    }

    /// Calls `body` with each candidate that passes the plan's tests, read through the layout.
    private func forEachMatch(_ body: (RecordView) throws -> Void) throws {
        try forEachCandidate { _, key, record in
            guard try passes(key, record) else { return true }
            try entity.read(key: key, record: record, body)
            return true
        }
    }
}

extension Plan {
    /// Whether the IDs in an index's entries are all that the sorting needs.
    func sortsKeysAlone(_ request: LoweredRequest, of entity: StoredEntity) -> Bool {
        guard residual.isEmpty, request.order.isByKey(of: entity), case .index = source else { return false }
        return true
    }
}
