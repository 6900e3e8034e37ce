// SPDX-License-Identifier: Apache-2.0

extension FetchObserver {
    /// The same observer, which after a commit fetches only once no other has changed the result for `interval`; but `maximumWait`
    /// after the first at the latest, so that the last state is neither lost nor held back by commits that never pause. The
    /// first value is not delayed.
    ///
    /// It waits before the fetch: what comes meanwhile costs a look at the changed objects, and no fetch. The times are counted
    /// from the commits, not from the question for a value: who asks late does not wait. The clock's `now` is read where commits
    /// are delivered, and must return at once. What its `sleep` throws ends the sequence.
    public func debounce<C: Clock>(for interval: Duration, maximumWait: Duration? = nil, clock: C = ContinuousClock())
        -> Self
    where C.Duration == Duration {
        var observer = self
        observer.makeDebounce = { Debounce(interval, maximumWait: maximumWait, clock: clock) }
        return observer
    }

    /// The same observer, which leaves out a value when `isDuplicate` says so of the one before and it. The predicate runs where the
    /// mapping closures do, on a thread of the store's.
    public func removeDuplicates(
        by isDuplicate: @escaping @Sendable (_ before: Value, _ now: Value) -> Bool
    ) -> Self {
        var observer = self
        observer.isDuplicate = isDuplicate
        return observer
    }
}

extension FetchObserver {
    /// The same observer, to which updates count only where one of these fields has another value. What comes into the result, leaves
    /// it, or gets another place in its order counts anyway. A key path that names no field ends the sequence with
    /// `unknownField`.
    public func onlyChanges(of keyPaths: (PartialKeyPath<T> & Sendable)...) -> Self {
        var observer = self
        observer.chosenFields = { binding in Set(try keyPaths.map { try binding.position(of: $0) }) }
        return observer
    }

    /// The same observer without the first value: the first is what a commit after the first question changed. Until then a window
    /// counts as one without an end.
    public func skippingFirst() -> Self {
        var observer = self
        observer.skipsFirst = true
        return observer
    }
}

extension FetchObserver where Value: Equatable {
    /// The same observer, which leaves out a value that equals the one before. They are compared on a thread of the store's.
    public func removeDuplicates() -> Self { removeDuplicates { $0 == $1 } }
}
