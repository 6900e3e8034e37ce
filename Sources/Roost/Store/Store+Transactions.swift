// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

extension Store {
    // MARK: Reading

    /// Runs `body` on one snapshot, on this thread.
    ///
    /// A read inside a transaction of the same store on the same thread joins it: inside a read it sees that read's snapshot,
    /// inside a write what the write has changed so far. The same holds for every synchronous form of reading.
    ///
    /// Waits while `Options.readerLimit` other reads are running, never for the writer. Throws
    /// `storeClosed`, and what `body` throws.
    @inlinable
    public func read<Result>(
        file: StaticString = #fileID, line: UInt = #line, _ body: (borrowing ReadTransaction) throws -> Result
    ) throws -> Result {
        try withExtendedLifetime(self) { try body(beginRead(file: file, line: line)) }
    }

    /// Runs `body` on one snapshot, on a thread of the store's.
    ///
    /// When the task is cancelled it throws `CancellationError`: at once while it waits, and from the middle of whatever
    /// `body` reads. That is noticed between rows, and in a sort every thousand comparisons: as a rule within a millisecond,
    /// but one object that takes long to decode or to test, or a comparator of your own that does, is not interrupted. The
    /// synchronous forms do the same in the middle of reading when the task is cancelled in which they are called. Nothing is
    /// cancelled inside a write.
    public func read<Result: Sendable>(
        file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (borrowing ReadTransaction) throws -> Result
    ) async throws -> Result {
        try await read(lane: .users, file: file, line: line, body)
    }

    func read<Result: Sendable>(
        lane: ThreadPool.Lane, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (borrowing ReadTransaction) throws -> Result
    ) async throws -> Result {
        try await engine.readers.run(lane) { try self.read(file: file, line: line, body) }
    }

    @usableFromInline
    func beginRead(file: StaticString, line: UInt) throws -> ReadTransaction {
        try beginRead(file: file, line: line, tracker: nil)
    }

    /// `tracker` is told what is read; the caller holds it.
    func beginRead(
        file: StaticString = #fileID, line: UInt = #line, tracker: (any ReadTracking)?
    ) throws -> ReadTransaction {
        try verifyOpen()
        do {
            let lease = try engine.environment.beginRead(origin: ReaderOrigin(file: file, line: line))
            // A write has done so at its beginning.
            if !lease.transaction.isWrite { try engine.schema.verify(lease.transaction) }
            return ReadTransaction(store: self, lease: lease, tracker: tracker)
        } catch {
            throw StoreError.wrapping(error, engine: engine)
        }
    }

    // MARK: Writing

    /// Runs `body` in one atomic transaction and commits it. When `body` throws, nothing happened.
    ///
    /// Inside `body`, on its thread, the store's synchronous forms of reading see what the transaction has changed, as the
    /// transaction's own do; other threads, and so all asynchronous forms, see the last commit.
    ///
    /// Writers wait for each other, also across processes. The caller's thread waits until the commit is complete. Throws
    /// `nestedWrite` inside another write of the same store. A write inside a write of another store waits for that store's
    /// writer: two threads that nest two stores in opposite order wait for each other for ever.
    ///
    /// Throws `readOnly`, `storeClosed`, and what the commit meets: `storeFull`, `diskFull`, `transactionTooLarge`,
    /// `commitFailed`. A commit costs one write of the changed pages, and what `Options.durability` waits for.
    ///
    /// `body` runs on the caller's thread. In a cancelled task it throws `CancellationError` before `body` begins, also while
    /// it waits for another write of this process; while another process writes, it goes on waiting.
    @discardableResult
    public func write<Result>(_ body: (borrowing WriteTransaction) throws -> Result) throws -> Result {
        try verifyOpen()
        return try engine.write { session in try body(WriteTransaction(store: self, session: session)) }
    }

    /// Runs `body` in one atomic transaction on the store's writer thread, and returns when it is committed.
    ///
    /// Throws what the synchronous form does. What `body` captures must be Sendable: copy a variable into a `let` first, and
    /// return what is wanted of the transaction.
    ///
    /// When the task is cancelled before `body` has begun, nothing happens and `CancellationError` is thrown at once, whoever
    /// writes meanwhile; from then on it runs to its end.
    @discardableResult
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
    ) async throws -> Result {
        guard !engine.environment.options.isReadOnly else { throw StoreError.readOnly }
        return try await engine.writer.run { promise in
            try self.verifyOpen()
            return try self.engine.perform { session in
                guard promise.claim() else { throw CancellationError() }
                return try body(WriteTransaction(store: self, session: session))
            }
        }
    }
}
