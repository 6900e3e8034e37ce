// SPDX-License-Identifier: Apache-2.0

import Observation
import Synchronization

/// The newest value of a sequence, for user interfaces: an observable object of the main actor.
///
/// ```swift
/// let counts = LiveValue(FetchDescriptor<City>().makeCountsObserver(by: \.country).values(store))
/// // in a view, or with withObservationTracking:
/// counts.value?[country] ?? 0
/// ```
///
/// Any sequence of values can be followed: an observer's, a live result's, a resolver's, `store.observe { … }`. What is to be read
/// and computed is done off the main actor; it only sets the value. It follows until it is released, stopped, or the sequence
/// ends.
@MainActor @Observable public final class LiveValue<Value: Sendable> {
    /// The newest value; nil before the first.
    public private(set) var value: Value?
    /// Why the sequence ended, where that was an error.
    public private(set) var error: (any Error)?
    /// Whether more can come.
    public private(set) var isRunning = false

    @ObservationIgnored private let following = Following()

    /// One that follows nothing yet.
    public init() {}

    /// One that follows `values`.
    public convenience init<Values: AsyncSequence & Sendable>(_ values: Values) where Values.Element == Value {
        self.init()
        follow(values)
    }

    /// Follows `values` instead of what it has followed so far, whose last value stays until the first of these. Returns at once.
    public func follow<Values: AsyncSequence & Sendable>(_ values: Values) where Values.Element == Value {
        error = nil
        isRunning = true
        let number = following.begins()
        // Not isolated, so that the sequence's own work is not done on the main actor; and not held by it.
        let task = Task.detached { [weak self] in
            do {
                for try await value in values { await self?.set(value, number) }
                await self?.end(nil, number)
            } catch {
                await self?.end(error, number)
            }
        }
        following.replace(by: task, number)
    }

    /// Follows nothing any more; the value stays.
    public func stop() {
        following.replace(by: nil, following.begins())
        isRunning = false
    }

    private func set(_ value: Value, _ number: Int) {
        if following.isCurrent(number) { self.value = value }
    }

    private func end(_ error: (any Error)?, _ number: Int) {
        guard following.isCurrent(number) else { return }
        self.error = error
        isRunning = false
    }

    /// The task; ends it when the object is released, wherever that is.
    private final class Following: Sendable {
        private let state = Mutex<(task: Task<Void, Never>?, number: Int)>((nil, 0))

        /// The number of what is followed next.
        func begins() -> Int {
            state.withLock { state in
                state.number += 1
                return state.number
            }
        }

        func isCurrent(_ number: Int) -> Bool { state.withLock { $0.number == number } }

        func replace(by task: Task<Void, Never>?, _ number: Int) {
            let before = state.withLock { state in
                defer { state.task = task }
                return state.task
            }
            before?.cancel()
        }

        deinit { state.withLock { $0.task }?.cancel() }
    }
}
