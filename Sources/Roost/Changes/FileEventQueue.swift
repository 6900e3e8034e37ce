// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

/// The system's queue of file events: inotify on Linux, kqueue on Darwin. Watches files that are open: what becomes of their
/// names does not matter, and no file is opened or closed for it (hazard 2).
///
/// A commit raises an event when its pages are written and another when its meta page is, both with `pwrite`; it shows to
/// readers a moment after the second.
struct FileEventQueue: Sendable {
    struct Events {
        var written: Set<Int32> = []
        /// Places that were removed, or whose file is gone.
        var ended: [Int32] = []
        /// The system dropped some: any file may have been written.
        var areLost = false
        /// Nothing more will come.
        var isBroken = false
    }

    private let descriptor: Int32
    private let owner = getpid()

    /// Whether this process made it, and not the one that it was forked from.
    var isMine: Bool { owner == getpid() }

    func close() { Foundation.close(descriptor) }
}

#if os(Linux)
    extension FileEventQueue {
        /// Nil where the system grants no more of them.
        init?() {
            let descriptor = Descriptors.aboveStreams(inotify_init1(Int32(IN_CLOEXEC)))
            if descriptor < 0 { return nil }
            self.descriptor = descriptor
        }

        /// Where the file is in the queue, the same for the same file; nil where there is no room.
        func add(_ file: Int32) -> Int32? {
            let place = inotify_add_watch(descriptor, "/proc/self/fd/\(file)", UInt32(IN_MODIFY))
            return place < 0 ? nil : place
        }

        /// Raises an event.
        func remove(_ place: Int32) { inotify_rm_watch(descriptor, place) }

        /// Waits until there are events.
        func wait() -> Events {
            withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: MemoryLayout<inotify_event>.alignment) {
                buffer in
                var events = Events()
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                if count <= 0 {
                    events.isBroken = count == 0 || errno != EINTR
                    return events
                }
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { events.areLost = true }
                    if event.mask & UInt32(IN_IGNORED) != 0 { events.ended.append(event.wd) }
                    if event.mask & UInt32(IN_MODIFY) != 0 { events.written.insert(event.wd) }
                }
                return events
            }
        }
    }
#elseif canImport(Darwin)
    extension FileEventQueue {
        private static let wake: UInt = .max

        /// Nil where the system grants no more of them.
        init?() {
            let descriptor = Descriptors.aboveStreams(kqueue())
            if descriptor < 0 { return nil }
            self.descriptor = descriptor
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            guard change(Self.wake, EVFILT_USER, EV_ADD | EV_CLEAR, 0) else {
                close()
                return nil
            }
        }

        /// Where the file is in the queue, the same for the same file; nil where there is no room. The system takes it
        /// out when `file` is closed.
        func add(_ file: Int32) -> Int32? {
            change(UInt(file), EVFILT_VNODE, EV_ADD | EV_CLEAR, UInt32(NOTE_WRITE)) ? file : nil
        }

        /// Raises an event.
        func remove(_ place: Int32) {
            _ = change(UInt(place), EVFILT_VNODE, EV_DELETE, 0)
            _ = change(Self.wake, EVFILT_USER, 0, UInt32(NOTE_TRIGGER))
        }

        /// Waits until there are events.
        func wait() -> Events {
            var raised = [kevent](repeating: kevent(), count: 64)
            var events = Events()
            let count = kevent(descriptor, nil, 0, &raised, Int32(raised.count), nil)
            if count < 0 {
                events.isBroken = errno != EINTR
                return events
            }
            for event in raised[..<Int(count)] where Int32(event.filter) == EVFILT_VNODE {
                events.written.insert(Int32(event.ident))
            }
            return events
        }

        private func change(_ identity: UInt, _ filter: Int32, _ flags: Int32, _ filterFlags: UInt32) -> Bool {
            var change = kevent(
                ident: identity, filter: Int16(filter), flags: UInt16(flags), fflags: filterFlags, data: 0, udata: nil)
            return kevent(descriptor, &change, 1, nil, 0, nil) == 0
        }
    }
#else
    extension FileEventQueue {
        init?() { return nil }
        func add(_ file: Int32) -> Int32? { nil }
        func remove(_ place: Int32) {}
        func wait() -> Events { Events(isBroken: true) }
    }
#endif
