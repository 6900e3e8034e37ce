// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

extension ReadTransaction {
    /// The place in the history after the last commit that this snapshot holds; inside a write, after the commit before it.
    public func token() throws -> HistoryToken {
        do {
            let engine = store.engine
            let (sequence, nonce) = try engine.main.sequence(in: lease.transaction)
            return HistoryToken(storeID: engine.header.storeID, sequence: sequence, nonce: nonce)
        } catch {
            throw StoreError.wrapping(error, engine: store.engine)
        }
    }

    func history(since token: HistoryToken, limit: Int) throws -> [Commit] {
        let (store, transaction) = (store, lease.transaction)
        do {
            let last = try store.engine.verify(token, in: transaction)
            guard token.sequence < last else { return [] }
            return try store.engine.committed.records(
                from: token.sequence + 1, through: last, limit: limit, in: transaction
            ).map { Commit($0, store: store) }
        } catch {
            throw StoreError.wrapping(error, engine: store.engine)
        }
    }
}

extension Store {
    /// The place in the history after the last commit. To read objects and the token of the same state, use
    /// `ReadTransaction.token`.
    public func token(file: StaticString = #fileID, line: UInt = #line) throws -> HistoryToken {
        try read(file: file, line: line) { tx in try tx.token() }
    }

    /// The asynchronous form.
    public func token(file: StaticString = #fileID, line: UInt = #line) async throws -> HistoryToken {
        try await read(file: file, line: line) { tx in try tx.token() }
    }

    /// The commits after a token, of this process and others, in order: the first `limit` of them, or fewer where they take more
    /// than 16 MiB. Go on with the last one's `token` until there are none.
    ///
    /// The history holds the last 10,000 commits, or as many as fit in 64 MiB. Throws `historyExpired` where it does not hold
    /// the token's commit any more, `historyForeign` where the token is of another store, or of a commit that this store, restored
    /// or copied, does not have, and `damaged`, which names the commit, where an entry cannot be read. Costs what the commits
    /// changed.
    public func history(
        since token: HistoryToken, limit: Int = 1_000, file: StaticString = #fileID, line: UInt = #line
    ) throws -> [Commit] {
        try read(file: file, line: line) { tx in try tx.history(since: token, limit: limit) }
    }

    /// The asynchronous form.
    public func history(
        since token: HistoryToken, limit: Int = 1_000, file: StaticString = #fileID, line: UInt = #line
    ) async throws -> [Commit] {
        try await read(file: file, line: line) { tx in try tx.history(since: token, limit: limit) }
    }
}

extension Engine {
    /// The last commit's sequence, where the token is of this store's past and the history holds what has happened since.
    fileprivate func verify(_ token: HistoryToken, in transaction: Transaction) throws -> UInt64 {
        let last = try main.sequence(in: transaction)
        let isKnown = token.storeID == header.storeID && token.sequence <= last.sequence
        guard isKnown else { throw StoreError.foreign(token) }
        let nonce: UInt64
        if token.sequence == last.sequence {
            // The newest commit's own entry is not needed.
            nonce = last.nonce
        } else if token.sequence == 0 {
            guard try history.bounds(in: transaction)?.lowerBound == 1 else { throw StoreError.expired(token) }
            nonce = 0
        } else {
            guard let entry = try history.entry(token.sequence, in: transaction) else {
                throw StoreError.expired(token)
            }
            nonce = entry.nonce
        }
        guard token.nonce == nonce else { throw StoreError.foreign(token) }
        return last.sequence
    }
}

extension StoreError {
    fileprivate static func expired(_ token: HistoryToken) -> StoreError {
        StoreError(
            .historyExpired,
            "The history does not hold commit \(token.sequence) any more: read everything anew, and take a new token.")
    }

    fileprivate static func foreign(_ token: HistoryToken) -> StoreError {
        StoreError(
            .historyForeign,
            "The token, of commit \(token.sequence), is of another store, or of commits that this one does not have: it was "
                + "restored, or is a copy. Read everything anew, and take a new token.")
    }
}
