// SPDX-License-Identifier: Apache-2.0

/// Every commit after a token, in order: those that the history holds, and then each as it comes; none is left out, none comes
/// twice. See ``Store/commits(since:)``.
public struct CommitsSince: AsyncSequence, Sendable {
    public typealias Element = Commit
    let store: Store
    let token: HistoryToken

    /// Begins to follow the store.
    public func makeAsyncIterator() -> Iterator { Iterator(store: store, token: token) }

    /// One iteration. It follows the store until it is released or has ended.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private let store: Store
        /// After which commit it goes on; nil where the last one's token is not known.
        private var token: HistoryToken?
        private var last: UInt64
        /// What was read of the history and not given yet, the next one last.
        private var page: [Commit] = []
        private var isBehind = true
        /// Commits as they come. Made before the history is read.
        private let coming: CommitBuffer?
        private var isOver = false

        init(store: Store, token: HistoryToken) {
            self.store = store
            self.token = token
            last = token.sequence
            coming = CommitBuffer(store: store)
        }

        public nonisolated(nonsending) mutating func next() async throws -> Commit? {
            try await next(isolation: #isolation)
        }

        /// It returns on `actor`.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Commit? {
            do {
                while !isOver, let coming {
                    if let commit = page.popLast() { return given(commit) }
                    if isBehind, let token {
                        page = try await store.history(since: token, limit: 256).reversed()
                        isBehind = !page.isEmpty
                        continue
                    }
                    guard let commit = await coming.next() else { break }
                    if commit.sequence <= last { continue }
                    // Several as one, since nobody took them: the history has them one by one.
                    isBehind = token != nil && commit.firstSequence < commit.sequence
                    if !isBehind { return given(commit) }
                }
            } catch {
                isOver = true
                if store.isClosed || error is CancellationError && Task.isCancelled { return nil }
                throw error
            }
            isOver = true
            return nil
        }

        private mutating func given(_ commit: Commit) -> Commit {
            last = commit.sequence
            token = commit.token
            return commit
        }
    }
}

extension Store {
    /// Every commit after `token`, of this process and others, in order: first those that the history holds, then each as it comes.
    ///
    /// With the token of a snapshot (`ReadTransaction.token`) nothing is missed between what was read there and the first commit. A slow
    /// consumer is not given several commits as one, as by `commits()`: it reads them from the history. Throws what
    /// `history(since:)` does, also later, when the history is pruned before the consumer comes to it; closing the store ends the
    /// sequence without an error, and so does cancelling the task.
    public func commits(since token: HistoryToken) -> CommitsSince { CommitsSince(store: self, token: token) }
}
