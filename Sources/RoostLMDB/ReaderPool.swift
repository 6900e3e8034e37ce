// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB
import Dispatch
import Foundation
import Synchronization

/// One pooled read transaction. Between uses it is reset: it pins nothing and keeps its slot in the lock file.
///
/// Unchecked: it is owned by exactly one thread between `acquire` and `release`, and by the pool's lock otherwise; what
/// others read of it meanwhile is published by `beganAt`.
final class ReaderSlot: @unchecked Sendable {
    let transaction: Transaction
    unowned(unsafe) let pool: ReaderPool
    /// The thread's frame for the slot's current use; allocated once, so that a read allocates nothing.
    let frame: UnsafeMutablePointer<ThreadFrame>
    /// In milliseconds; 0 until the use has begun. Stored last when one begins, under the pool's lock when it ends: who
    /// holds the lock and finds it set may read `origin` and the snapshot's number.
    let beganAt = Atomic<UInt64>(0)
    let origin = UnsafeMutablePointer<ReaderOrigin?>.allocate(capacity: 1)

    init(_ handle: OpaquePointer, _ pool: ReaderPool) {
        transaction = Transaction(handle: handle, isWrite: false, isPooled: true)
        self.pool = pool
        frame = .allocate(capacity: 1)
        frame.initialize(to: ThreadFrame(transaction: transaction, environment: nil, outer: nil))
        origin.initialize(to: nil)
    }

    deinit {
        frame.deallocate()
        origin.deallocate()
    }
}

/// Where a read began, for the report about readers that live too long.
package struct ReaderOrigin: Sendable {
    package let file: StaticString
    package let line: UInt

    package init(file: StaticString, line: UInt) {
        self.file = file
        self.line = line
    }
}

/// A bounded set of read transactions, opened with NOTLS and handed from thread to thread (hazard 11).
///
/// Mutable state, all guarded by `state`:
/// - `slots`: all transactions that there are, idle or handed out, and their owner; a slot knows when its use began;
/// - `idle`: those that are reset and ready to be renewed;
/// - `waiters`: threads that found none, each with a semaphore of its own, first come first served;
/// - `closed`: set once; no reader is handed out afterwards.
final class ReaderPool: Sendable {
    private struct State {
        var idle: [Unmanaged<ReaderSlot>] = []
        var slots: [ReaderSlot] = []
        var made = 0
        /// Of those made, the ones that are neither idle nor in use any more: they are on their way to being ended.
        var ending = 0
        var waiters: [DispatchSemaphore] = []
        var totals = ReadTotals()
        var closed = false
        /// While the map is made anew: nobody gets a reader.
        var isPaused = false
        var drained: DispatchSemaphore?
    }

    private let state = Mutex(State())
    private let limit: Int
    /// Unsafe for the compiler, being a pointer: LMDB lets any thread begin a transaction with it, and it is closed only
    /// after `close()` has drained the pool.
    nonisolated(unsafe) private let environment: OpaquePointer

    init(environment: OpaquePointer, limit: Int) {
        self.environment = environment
        self.limit = limit
    }

    /// A renewed read transaction; waits while all are in use, never fails for want of one. Nil after `close()`.
    func acquire(origin: ReaderOrigin?) throws(LMDBError) -> ReaderSlot? {
        while true {
            enum Step {
                case use(Unmanaged<ReaderSlot>)
                case make
                case wait(DispatchSemaphore)
                case closed
            }
            let step = state.withLock { state -> Step in
                if state.closed { return .closed }
                if !state.isPaused, let slot = state.idle.popLast() { return .use(slot) }
                if !state.isPaused, state.made < limit {
                    state.made += 1
                    return .make
                }
                let semaphore = DispatchSemaphore(value: 0)
                state.waiters.append(semaphore)
                return .wait(semaphore)
            }
            switch step {
            case .use(let idle):
                let slot = idle.takeUnretainedValue()
                let code = mdb_txn_renew(slot.transaction.handle)
                if code != MDB_SUCCESS {
                    discard(slot)
                    throw failure(code, "mdb_txn_renew")
                }
                return begin(slot, origin)
            case .make:
                if let slot = try make() { return begin(slot, origin) }
            case .wait(let semaphore):
                try wait(for: semaphore)
            case .closed:
                return nil
            }
        }
    }

    /// No more idle readers are kept than are live, or than this: a process that was busy once gives its slots back as its
    /// reads end, and one that stays busy does not make readers anew.
    private static let idleReaders = 4

    func release(_ slot: ReaderSlot) {
        mdb_txn_reset(slot.transaction.handle)
        let (surplus, wake) = state.withLock { state -> (Int, DispatchSemaphore?) in
            slot.beganAt.store(0, ordering: .relaxed)
            state.totals.add(slot.transaction.counters)
            state.idle.append(.passUnretained(slot))
            let live = state.made - state.idle.count - state.ending
            return (state.idle.count - max(Self.idleReaders, live), next(&state))
        }
        wake?.signal()
        if surplus > 0 { shrink(by: surplus) }
    }

    /// Ends the idle readers that were not used for the longest.
    @inline(never)
    private func shrink(by surplus: Int) {
        for _ in 0..<surplus {
            let slot = state.withLock { state -> Unmanaged<ReaderSlot>? in
                if state.closed || state.idle.count <= Self.idleReaders { return nil }
                state.ending += 1
                return state.idle.removeFirst()
            }
            if let slot { end(slot.takeUnretainedValue()) }
        }
    }

    /// Refuses new readers, waits for the live ones and ends them all.
    func close() {
        let (drained, waiters) = state.withLock { state -> (DispatchSemaphore?, [DispatchSemaphore]) in
            state.closed = true
            let waiters = state.waiters
            state.waiters = []
            if state.made == state.idle.count { return (nil, waiters) }
            let semaphore = DispatchSemaphore(value: 0)
            state.drained = semaphore
            return (semaphore, waiters)
        }
        for waiter in waiters { waiter.signal() }
        drained?.wait()
        let slots = state.withLock { state -> [ReaderSlot] in
            let slots = state.slots
            state.idle = []
            state.slots = []
            state.made = 0
            return slots
        }
        for slot in slots { mdb_txn_abort(slot.transaction.handle) }
    }

    /// Keeps new readers waiting, and waits for the live ones. False when they have not ended in time. Followed by `resume`.
    /// `deadline` is of `monotonicMilliseconds`. Throws `LMDBError.cancelled` soon after who waits was cancelled.
    func pause(until deadline: UInt64) throws(LMDBError) -> Bool {
        let drained = state.withLock { state -> DispatchSemaphore? in
            state.isPaused = true
            if state.closed || state.made == state.idle.count { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            state.drained = semaphore
            return semaphore
        }
        guard let drained else { return true }
        while drained.wait(timeout: .now() + .milliseconds(5)) == .timedOut {
            if Cancellation.isRequested { throw .cancelled }
            if monotonicMilliseconds() > deadline { return false }
        }
        return true
    }

    /// After `pause`: the map may lie elsewhere.
    func resume() {
        let waiters = state.withLock { state -> [DispatchSemaphore] in
            guard state.isPaused else { return [] }
            state.isPaused = false
            if !state.closed { state.drained = nil }
            for slot in state.idle { slot.takeUnretainedValue().transaction.forgetPlaces() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.signal() }
    }

    /// What all reads that have ended did together.
    var totals: ReadTotals { state.withLock { $0.totals } }

    /// Age in milliseconds, snapshot and origin of the reader that has been live the longest.
    func oldest() -> (age: UInt64, snapshotID: Int, origin: ReaderOrigin?)? {
        let now = monotonicMilliseconds()
        return state.withLock { state in
            var oldest: (slot: ReaderSlot, beganAt: UInt64)?
            for slot in state.slots {
                let beganAt = slot.beganAt.load(ordering: .acquiring)
                if beganAt > 0, beganAt < oldest?.beganAt ?? .max { oldest = (slot, beganAt) }
            }
            return oldest.map { (now - min(now, $0.beganAt), $0.slot.transaction.snapshotID, $0.slot.origin.pointee) }
        }
    }

    private func begin(_ slot: ReaderSlot, _ origin: ReaderOrigin?) -> ReaderSlot {
        slot.transaction.begin()
        slot.origin.pointee = origin
        slot.beganAt.store(max(1, monotonicMilliseconds()), ordering: .releasing)
        return slot
    }

    /// Begins one more transaction. When the lock file has no slot left, the pool goes on with the readers that it has;
    /// when it has none, it waits for a slot of another process.
    private func make() throws(LMDBError) -> ReaderSlot? {
        let (code, handle) = beginRead(environment) {
            !Cancellation.isRequested && state.withLock { !$0.closed && !$0.isPaused && $0.slots.isEmpty }
        }
        if code == MDB_SUCCESS, let handle {
            let slot = ReaderSlot(handle, self)
            state.withLock { $0.slots.append(slot) }
            return slot
        }
        let (goesOn, wait) = state.withLock { state -> (Bool, DispatchSemaphore?) in
            state.made -= 1
            // One that was given back meanwhile is there for the taking; `acquire` also sees that the pool has closed.
            if state.closed || state.isPaused || !state.idle.isEmpty {
                if state.closed || state.isPaused { next(&state)?.signal() }
                return (true, nil)
            }
            if code == MDB_READERS_FULL && state.made > 0 {
                let semaphore = DispatchSemaphore(value: 0)
                state.waiters.append(semaphore)
                return (true, semaphore)
            }
            // Who waited for this one tries for itself.
            next(&state)?.signal()
            return (false, nil)
        }
        guard goesOn else {
            throw code == MDB_READERS_FULL && Cancellation.isRequested ? .cancelled : failure(code, "mdb_txn_begin")
        }
        if let wait { try self.wait(for: wait) }
        return nil
    }

    /// Waits for a slot to come back. Who is cancelled leaves the queue, and hands on what came to him all the same.
    private func wait(for semaphore: DispatchSemaphore) throws(LMDBError) {
        guard Cancellation.isRequested(whileWaitingFor: semaphore) else { return }
        let wake = state.withLock { state -> DispatchSemaphore? in
            if let place = state.waiters.firstIndex(where: { $0 === semaphore }) {
                state.waiters.remove(at: place)
                return nil
            }
            return next(&state)
        }
        wake?.signal()
        throw .cancelled
    }

    /// Ends one that is in nobody's hands but the caller's.
    private func discard(_ slot: ReaderSlot) {
        state.withLock { $0.ending += 1 }
        end(slot)
    }

    /// Ends one that counts as ending.
    private func end(_ slot: ReaderSlot) {
        // Nobody may ask it for its snapshot any more once it has ended; it counts until then.
        let owned = state.withLock { state -> ReaderSlot? in
            slot.beganAt.store(0, ordering: .relaxed)
            return state.slots.firstIndex { $0 === slot }.map { state.slots.remove(at: $0) }
        }
        mdb_txn_abort(slot.transaction.handle)
        withExtendedLifetime(owned) {}
        let wake = state.withLock { state -> DispatchSemaphore? in
            state.made -= 1
            state.ending -= 1
            return next(&state)
        }
        wake?.signal()
    }

    /// Who is to be woken after a slot came back: the closer when it was the last, else the first waiter.
    private func next(_ state: inout State) -> DispatchSemaphore? {
        if state.closed || state.isPaused { return state.made == state.idle.count ? state.drained : nil }
        return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
    }
}

/// Begins a read transaction with a slot of its own. While all slots of the lock file are taken it frees those of dead
/// processes and tries again, for at most five seconds and as long as `mayWait` says so.
func beginRead(_ environment: OpaquePointer, mayWait: () -> Bool) -> (code: Int32, handle: OpaquePointer?) {
    let deadline = monotonicMilliseconds() + 5_000
    var pause: UInt32 = 1_000
    while true {
        var handle: OpaquePointer?
        var code = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &handle)
        if code == MDB_READERS_FULL {
            var dead: Int32 = 0
            mdb_reader_check(environment, &dead)
            if dead > 0 { code = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &handle) }
        }
        guard code == MDB_READERS_FULL, mayWait(), monotonicMilliseconds() < deadline else { return (code, handle) }
        // No process can tell another that it has given a slot back.
        usleep(pause)
        pause = min(pause * 2, 32_000)
    }
}
