// SPDX-License-Identifier: Apache-2.0

import Dispatch
internal import RoostLMDB
import Synchronization

/// Who writes: one at a time, in the order of asking. A synchronous write runs on its caller's thread when its turn has come,
/// an asynchronous one on the queue's own thread; neither can be held up by threads of others.
///
/// Mutable state, guarded by `state`: whether somebody has the turn, and who waits for it.
final class WriterQueue: Sendable {
    private enum Waiter {
        case thread(DispatchSemaphore)
        case job(Job)
    }

    private struct State {
        var isBusy = false
        var waiting = WaitList<Waiter>()
    }

    private let state = Mutex(State())
    private let thread = SerialThread(name: "roost.writer")

    /// Runs `body` here, in its turn. Throws `CancellationError` when the task is cancelled before that; a task that is
    /// cancelled while it blocks its thread notices within 5 milliseconds.
    func sync<Result>(_ body: () throws -> Result) throws -> Result {
        try CancellationCheck.now()
        try enter()
        defer { leave() }
        return try body()
    }

    /// Runs `body` on the queue's thread, in its turn. `body` claims the promise where it cannot be cancelled any more;
    /// until then a cancelled caller leaves at once, wherever the queue is.
    func run<Result: Sendable>(_ body: @escaping @Sendable (Promise<Result>) throws -> Result) async throws -> Result {
        try Task.checkCancellation()
        let promise = Promise<Result>()
        let job = Job {
            promise.fulfil(Swift.Result { try body(promise) })
        } fail: {
            promise.fulfil(.failure($0))
        }
        return try await withTaskCancellationHandler {
            add(job)
            return try await promise.value()
        } onCancel: {
            job.flag.set()
            promise.cancel()
            state.withLock { state in
                if let ticket = job.ticket { state.waiting.remove(ticket) }
            }
        }
    }

    /// How many wait for their turn. For tests.
    var waiting: Int { state.withLock { $0.waiting.count } }

    private func enter() throws {
        let place = state.withLock { state -> (DispatchSemaphore, WaitList<Waiter>.Ticket)? in
            if !state.isBusy {
                state.isBusy = true
                return nil
            }
            let semaphore = DispatchSemaphore(value: 0)
            return (semaphore, state.waiting.append(.thread(semaphore)))
        }
        guard let (semaphore, ticket) = place else { return }
        guard Cancellation.isRequested(whileWaitingFor: semaphore) else { return }
        // The turn may have come meanwhile: then it is passed on.
        if state.withLock({ $0.waiting.remove(ticket) == nil }) { leave() }
        throw CancellationError()
    }

    private func add(_ job: Job) {
        let isNext = state.withLock { state in
            // Who is cancelled from now on finds the ticket.
            if job.flag.isSet { return false }
            if state.isBusy {
                job.ticket = state.waiting.append(.job(job))
                return false
            }
            state.isBusy = true
            return true
        }
        if isNext, !hasStarted(job) { leave() }
    }

    private func leave() {
        while true {
            let next = state.withLock { state -> Waiter? in
                let next = state.waiting.popFirst()
                if next == nil { state.isBusy = false }
                return next
            }
            switch next {
            case .thread(let semaphore):
                semaphore.signal()
                return
            case .job(let job): if hasStarted(job) { return }
            case nil: return
            }
        }
    }

    /// False when no thread can be had: then the job has failed, and the turn is the next one's.
    private func hasStarted(_ job: Job) -> Bool {
        let isGiven = thread.async { [self] in
            job.run()
            leave()
        }
        if !isGiven { job.fail(StoreError.noThread) }
        return isGiven
    }
}
