// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

extension Store {
    /// Looks at every object of an entity and every entry of its indexes, removes the objects that are lost, and makes the
    /// indexes agree with the objects that there are.
    ///
    /// For a store of which an error has said `damaged`. An object that can be read is never removed, unless `damage`
    /// names `.altered`. With `removing: []` all objects are left, and the indexes are mended.
    ///
    /// ```swift
    /// let report = try await store.repair(City.self)
    /// print("lost:", report.removed.ids)
    /// ```
    ///
    /// Reads in snapshots of a thousand objects or entries, and writes only where there is something to mend: each batch is
    /// an ordinary commit, with other writers between them. What they change meanwhile is looked at again before anything
    /// is done to it; what they damage behind the place that has been reached is not found. Where an index was mended, the
    /// commit says that any object of the entity may have changed.
    ///
    /// Costs a scan of the records, with a decoding each, and of the indexes; where the two do not agree, another one. For
    /// each object that is removed all indexes of the entity are searched from end to end. Takes memory for one batch.
    ///
    /// Runs on this thread. Throws `readOnly`, `nestedWrite` inside a write of the store, `unknownEntity`, `schemaMismatch`
    /// where the entity cannot be written because its text keys follow other Unicode data, and what a write does; in a
    /// cancelled task `CancellationError`. What was mended before then stays so, and a second call begins anew.
    @discardableResult
    public func repair<T: Entity>(_ type: T.Type, removing damage: Damage = .lost) throws -> RepairReport<T> {
        guard !engine.environment.isWritingOnThisThread else { throw StoreError.nestedWrite }
        var repair = try Repair<T>(self, removing: damage)
        while !repair.isOver {
            try CancellationCheck.now()
            try read { (tx) throws in try repair.examine(tx.context) }
            if repair.hasFindings { try write { (tx) throws in try repair.mend(tx.session) } }
        }
        return repair.report
    }

    /// The asynchronous form: reads and writes on threads of the store's.
    @discardableResult
    public func repair<T: Entity>(_ type: T.Type, removing damage: Damage = .lost) async throws -> RepairReport<T> {
        var repair = try Repair<T>(self, removing: damage)
        while !repair.isOver {
            let before = repair
            repair = try await read { tx in
                var repair = before
                try repair.examine(tx.context)
                return repair
            }
            guard repair.hasFindings else { continue }
            let found = repair
            repair = try await write { tx in
                var repair = found
                try repair.mend(tx.session)
                return repair
            }
        }
        return repair.report
    }
}
