// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB
import Synchronization

#if canImport(ObjectiveC)
    import ObjectiveC
#endif

/// A piece of work on its way to a thread, with the flag that ends its reading.
///
/// Mutable state: `ticket` (atomic), written once under the lock of the queue that it is in.
final class Job: Sendable {
    let flag = CancellationFlag()
    /// Nil once it has run: what it holds, a store among it, must not live as long as an idle thread.
    private let work: Mutex<(@Sendable () -> Void)?>
    /// Told when no thread can be had.
    let fail: @Sendable (any Error) -> Void
    private let place = Atomic<UInt64>(.max)

    init(_ work: @escaping @Sendable () -> Void, fail: @escaping @Sendable (any Error) -> Void) {
        self.work = Mutex(work)
        self.fail = fail
    }

    var ticket: WaitList<Job>.Ticket? {
        get {
            let ticket = place.load(ordering: .relaxed)
            return ticket == .max ? nil : ticket
        }
        set { place.store(newValue ?? .max, ordering: .relaxed) }
    }

    /// Once.
    func run() {
        let taken = work.withLock { work in
            defer { work = nil }
            return work
        }
        guard let work = taken else { return }
        #if canImport(ObjectiveC)
            autoreleasepool { flag.run(work) }
        #else
            flag.run(work)
        #endif
    }
}
