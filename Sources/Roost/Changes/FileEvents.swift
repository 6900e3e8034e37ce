// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Tells of writes to open files, by whatever process.
///
/// One queue of the system's and one thread serve all files of the process; both are there only while a file is watched. The
/// thread sleeps until a file is written, tells those who watch it, and looks for the next writes a millisecond later: however
/// often files are written, that costs a thousand turns a second.
///
/// What is told is that a file may have been written, at least once after each write. The system may lose a notice, and has
/// none of files on other machines.
///
/// Mutable state (mutex): the queue and who watches.
final class FileEvents: Sendable {
    /// Of the whole process.
    static let shared = FileEvents()

    /// Watches a file until it is released. One call may still be under way then.
    final class Watch: Sendable {
        private let end: @Sendable () -> Void
        fileprivate init(_ end: @escaping @Sendable () -> Void) { self.end = end }
        deinit { end() }
    }

    private struct State {
        var queue: FileEventQueue?
        /// By where in the queue a file is, and a number that is never used again.
        var watchers: [Int32: [UInt64: @Sendable () -> Void]] = [:]
        var next: UInt64 = 0
    }

    private static let pauseMicroseconds: UInt32 = 1_000

    private let state = Mutex(State())

    /// Whether there is a queue and a thread. For tests.
    var isRunning: Bool { state.withLock { $0.queue != nil } }

    /// Calls `written`, on a thread for all files, after each write to the file that `descriptor` has open; it must return
    /// soon. Nil where the system has no queue, no place in it, or no thread to give.
    func watch(_ descriptor: Int32, _ written: @escaping @Sendable () -> Void) -> Watch? {
        state.withLock { state in
            if let queue = state.queue, !queue.isMine {
                // This is a child that was forked: the queue is the parent's, and the thread is there.
                queue.close()
                state = State(next: state.next)
            }
            let isNew = state.queue == nil
            guard let queue = state.queue ?? FileEventQueue() else { return nil }
            guard let place = queue.add(descriptor) else {
                if isNew { queue.close() }
                return nil
            }
            if isNew && !NativeThread.start("roost.files", { self.run(queue) }) {
                queue.close()
                return nil
            }
            let number = state.next
            state.next += 1
            state.queue = queue
            state.watchers[place, default: [:]][number] = written
            return Watch { [self] in end(place, number) }
        }
    }

    private func end(_ place: Int32, _ number: UInt64) {
        let ended = state.withLock { state -> (@Sendable () -> Void)? in
            let ended = state.watchers[place]?.removeValue(forKey: number)
            if ended != nil, state.watchers[place]?.isEmpty == true {
                state.watchers[place] = nil
                // The thread is told, and ends when nothing is watched.
                if let queue = state.queue, queue.isMine { queue.remove(place) }
            }
            return ended
        }
        withExtendedLifetime(ended) {}
    }

    private func run(_ queue: FileEventQueue) {
        while true {
            let events = queue.wait()
            let watchers = state.withLock { state -> [@Sendable () -> Void]? in
                for place in events.ended { state.watchers[place] = nil }
                if state.watchers.isEmpty || events.isBroken {
                    state.watchers = [:]
                    state.queue = nil
                    return nil
                }
                return state.watchers.filter { events.areLost || events.written.contains($0.key) }.flatMap(
                    \.value.values)
            }
            guard let watchers else {
                queue.close()
                return
            }
            for written in watchers { written() }
            usleep(Self.pauseMicroseconds)
        }
    }
}
