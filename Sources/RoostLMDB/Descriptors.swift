// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Descriptors 0 to 2 are the standard streams', also where a program starts with them closed: a store's file under one of
/// these numbers would get what somebody prints (hazard 40).
package enum Descriptors {
    /// Held while placeholders stand in for the streams, so that no two threads take each other's away.
    private static let lock = NSLock()

    /// `open`, closed on exec and above the standard streams; negative, with `errno`, when it fails.
    static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0o644) -> Int32 {
        aboveStreams(Foundation.open(path, flags | O_CLOEXEC, mode))
    }

    /// The same open file under a number above the standard streams', closed on exec if it had one of theirs; negative, with
    /// `errno`, when `descriptor` is or there is no more room. Takes `descriptor`.
    package static func aboveStreams(_ descriptor: Int32) -> Int32 {
        guard descriptor >= 0, descriptor <= STDERR_FILENO else { return descriptor }
        let above = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        let code = errno
        close(descriptor)
        errno = code
        return above
    }

    /// Runs `body`, in which others open files, while no number below 3 is free.
    static func withStreamsTaken<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result
    {
        lock.lock()
        var placeholders: [Int32] = []
        while true {
            let descriptor = Foundation.open("/dev/null", O_RDWR | O_CLOEXEC)
            if descriptor > STDERR_FILENO { close(descriptor) }
            guard descriptor >= 0, descriptor <= STDERR_FILENO else { break }
            placeholders.append(descriptor)
        }
        defer {
            for placeholder in placeholders { close(placeholder) }
            lock.unlock()
        }
        return try body()
    }
}
