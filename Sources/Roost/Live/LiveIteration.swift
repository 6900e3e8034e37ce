// SPDX-License-Identifier: Apache-2.0

/// One iteration over live values.
protocol LiveIteration<Value>: AnyObject, Sendable {
    associatedtype Value: Sendable
    /// The next value, once there is one; nil when the task is cancelled or the store closed. What it throws ends the
    /// iteration.
    func next() async throws -> Value?
    /// The next value, if there is one to be had without waiting for a commit.
    func poll() async throws -> Value?
    func close()
}

/// Ends its iteration when the iterator that holds it goes away.
final class ScopedLiveIteration<Value: Sendable>: Sendable {
    let iteration: any LiveIteration<Value>

    init(_ iteration: any LiveIteration<Value>) { self.iteration = iteration }

    deinit { iteration.close() }
}
