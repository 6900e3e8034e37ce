// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB
import Synchronization

/// Threads of Roost's own that run what is given to them: started when there is work, ended when they were idle for a
/// while. Nobody else's work can hold them up, as it can libdispatch's.
///
/// Users' work goes before observers', and observers leave the reserved threads to it.
///
/// Mutable state, guarded by the core's `state`: see there. A thread that never comes back keeps the core, not the pool.
final class ThreadPool: Sendable {
    enum Lane: Int, CaseIterable {
        case users, observers
    }

    struct Size {
        /// How many pieces of work run at once, as long as they end.
        var steady: Int
        /// How many there may be with those that do not end.
        var limit: Int
        /// How many of them observers leave alone.
        var reserved = 0
        /// How many pieces of observers' work run at once, as long as they end: more threads than processors only hinder each
        /// other. Nil is as many as there may be.
        var steadyObservers: Int?
        /// Twice as long, and a piece of work counts as one that does not end: more may run in its place.
        var patience: DispatchTimeInterval?
        /// What is told, once, when work waits at the limit.
        var whenBlocked: (@Sendable () -> Void)?
    }

    private let core: Core

    init(name: String, size: Size) { core = Core(name, size) }

    deinit { core.stop() }

    /// Runs `body` on one of the threads and suspends the caller until then. A cancelled caller leaves the queue at once;
    /// once begun, `body` is waited for, and the flag is set that ends its reading. With `isAbandonable` it is not waited for.
    func run<Result: Sendable>(
        _ lane: Lane = .users, promise: Promise<Result> = Promise(), isAbandonable: Bool = false,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        let job = Job {
            // Who does not wait any more, for a closure that has not begun, does not want it run.
            if isAbandonable ? !promise.isFulfilled : promise.claim() { promise.fulfil(Swift.Result(catching: body)) }
        } fail: {
            promise.fulfil(.failure($0))
        }
        let core = core
        return try await withTaskCancellationHandler {
            core.add(job, lane)
            return try await promise.value()
        } onCancel: {
            job.flag.set()
            promise.cancel()
            core.withdraw(job, lane)
        }
    }

    /// Runs `body` on one of the threads, whenever that is; `fail`, here, when no thread can be had.
    func async(_ body: @escaping @Sendable () -> Void, fail: @escaping @Sendable (any Error) -> Void) {
        core.add(Job(body, fail: fail), .users)
    }

    /// How many threads there are. For tests.
    var threads: Int { core.threads }

    /// How many pieces of work wait. For tests.
    var waiting: Int { core.waiting }

    private final class Worker: Sendable {
        let semaphore = DispatchSemaphore(value: 0)
    }

    private final class Core: Sendable {
        private struct State {
            var waiting = Lane.allCases.map { _ in WaitList<Job>() }
            /// What each busy thread works on, and since which tick of the watch.
            var busy: [ObjectIdentifier: (lane: Lane, tick: Int)] = [:]
            /// Busy threads by lane.
            var counts = Lane.allCases.map { _ in 0 }
            /// Threads without work; the last one is taken first, so that those too many grow old.
            var idle: [Worker] = []
            /// What an idle thread was woken for.
            var assigned: [ObjectIdentifier: Job] = [:]
            var tick = 0
            var isWatched = false
            var isReported = false
            var isStopped = false

            var threads: Int { busy.count + idle.count }
            var isWaiting: Bool { waiting.contains { !$0.isEmpty } }
        }

        private let name: String
        private let size: Size
        private let state = Mutex(State())
        private let stopped = DispatchSemaphore(value: 0)

        private static let idleTime = DispatchTimeInterval.seconds(10)

        init(_ name: String, _ size: Size) {
            self.name = name
            self.size = size
        }

        var threads: Int { state.withLock { $0.threads } }
        var waiting: Int { state.withLock { state in state.waiting.reduce(0) { $0 + $1.count } } }

        func add(_ job: Job, _ lane: Lane) {
            let actions = state.withLock { state -> [Action] in
                // Who is cancelled from now on finds the ticket.
                if job.flag.isSet { return [] }
                job.ticket = state.waiting[lane.rawValue].append(job)
                return assign(&state)
            }
            perform(actions)
        }

        func withdraw(_ job: Job, _ lane: Lane) {
            state.withLock { state in
                if let ticket = job.ticket { state.waiting[lane.rawValue].remove(ticket) }
            }
        }

        func stop() {
            let idle = state.withLock { state in
                state.isStopped = true
                return state.idle
            }
            for worker in idle { worker.semaphore.signal() }
            stopped.signal()
        }

        // MARK: Who works on what

        private enum Action {
            case wake(Worker)
            case start(Worker)
            case watch
            case report
        }

        /// Gives what waits to idle threads, and to new ones.
        private func assign(_ state: inout State) -> [Action] {
            var actions: [Action] = []
            while state.isWaiting {
                let isNew = state.idle.isEmpty
                if isNew && state.threads >= allowed(state) { break }
                guard let (job, lane) = next(&state) else { break }
                let worker = state.idle.popLast() ?? Worker()
                begin(worker, lane, &state)
                state.assigned[ObjectIdentifier(worker)] = job
                actions.append(isNew ? .start(worker) : .wake(worker))
            }
            guard size.patience != nil, !state.isStopped else { return actions }
            if !state.isWaiting {
                state.isReported = false
            } else if state.threads < size.limit {
                if !state.isWatched { actions.append(.watch) }
                state.isWatched = true
            } else if !state.isReported {
                state.isReported = true
                actions.append(.report)
            }
            return actions
        }

        private func next(_ state: inout State) -> (Job, Lane)? {
            for lane in Lane.allCases {
                if lane == .observers && state.counts[lane.rawValue] >= allowedObservers(state) { continue }
                if let job = state.waiting[lane.rawValue].popFirst() { return (job, lane) }
            }
            return nil
        }

        private func allowedObservers(_ state: State) -> Int {
            let most = size.limit - size.reserved
            guard let steady = size.steadyObservers, state.counts[Lane.observers.rawValue] >= steady else {
                return most
            }
            let stuck = state.busy.values.count { $0.lane == .observers && $0.tick + 1 < state.tick }
            return min(most, steady + 2 * stuck)
        }

        private func begin(_ worker: Worker, _ lane: Lane, _ state: inout State) {
            state.busy[ObjectIdentifier(worker)] = (lane, state.tick)
            state.counts[lane.rawValue] += 1
        }

        private func end(_ worker: Worker, _ state: inout State) {
            guard let (lane, _) = state.busy.removeValue(forKey: ObjectIdentifier(worker)) else { return }
            state.counts[lane.rawValue] -= 1
        }

        /// How many threads there may be now. Where all of them are stuck the number doubles, so that the limit is soon
        /// reached.
        private func allowed(_ state: State) -> Int {
            guard size.patience != nil, state.threads >= size.steady else { return size.steady }
            let stuck = state.busy.values.count { $0.tick + 1 < state.tick }
            return min(size.limit, size.steady + 2 * stuck)
        }

        private func perform(_ actions: [Action]) {
            for action in actions {
                switch action {
                case .wake(let worker): worker.semaphore.signal()
                case .start(let worker):
                    if !NativeThread.start(name, { self.work(worker) }) { giveBack(worker) }
                case .watch:
                    if !NativeThread.start(name, { self.watch() }) { state.withLock { $0.isWatched = false } }
                case .report: size.whenBlocked?()
                }
            }
        }

        /// The system grants no thread: what waits goes on waiting for those that there are, or fails when there are none.
        private func giveBack(_ worker: Worker) {
            let failed = state.withLock { state -> [Job] in
                guard let job = state.assigned.removeValue(forKey: ObjectIdentifier(worker)) else { return [] }
                let lane = state.busy[ObjectIdentifier(worker)]?.lane ?? .users
                end(worker, &state)
                if state.threads == 0 { return [job] + state.waiting.indices.flatMap { state.waiting[$0].removeAll() } }
                if !job.flag.isSet { job.ticket = state.waiting[lane.rawValue].append(job) }
                return []
            }
            for job in failed { job.fail(StoreError.noThread) }
        }

        // MARK: Threads

        private func work(_ worker: Worker) {
            repeat { runAssigned(worker) } while getsWork(worker)
        }

        /// In a frame of its own, so that nothing of the job is left when the thread goes idle.
        @inline(never)
        private func runAssigned(_ worker: Worker) {
            state.withLock { $0.assigned.removeValue(forKey: ObjectIdentifier(worker)) }?.run()
        }

        /// Waits for work, which is then assigned. False when the thread is to end.
        private func getsWork(_ worker: Worker) -> Bool {
            enum Step {
                case work
                case wait
                case end
            }
            let step = state.withLock { state -> Step in
                end(worker, &state)
                // Those who took the place of a stuck one end when it has come back.
                if state.threads < allowed(state), let (job, lane) = next(&state) {
                    begin(worker, lane, &state)
                    state.assigned[ObjectIdentifier(worker)] = job
                    return .work
                }
                if state.isStopped || state.isWaiting && state.threads >= allowed(state) { return .end }
                state.idle.append(worker)
                return .wait
            }
            switch step {
            case .work: return true
            case .end: return false
            case .wait: break
            }
            let hasTimedOut = worker.semaphore.wait(timeout: .now() + Self.idleTime) == .timedOut
            let isAssigned = state.withLock { state in
                if state.assigned[ObjectIdentifier(worker)] != nil { return true }
                state.idle.removeAll { $0 === worker }
                return false
            }
            // It was given work at the last moment: the signal for it is still to come, or there.
            if hasTimedOut, isAssigned { worker.semaphore.wait() }
            return isAssigned
        }

        /// Looks from time to time whether those who work have come on, as long as somebody waits.
        private func watch() {
            guard let patience = size.patience else { return }
            while true {
                _ = stopped.wait(timeout: .now() + patience)
                let (actions, goesOn) = state.withLock { state -> ([Action], Bool) in
                    state.tick += 1
                    let actions = assign(&state)
                    state.isWatched = state.isWaiting && state.threads < size.limit && !state.isStopped
                    return (actions, state.isWatched)
                }
                perform(actions)
                if !goesOn { return }
            }
        }
    }
}
