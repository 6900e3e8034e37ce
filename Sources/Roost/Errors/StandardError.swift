// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The standard error stream, as a library may use it: never blindly, never waiting, never dying of it (hazard 40).
package enum StandardError {
    /// What a pipe that is ready takes as a whole (POSIX: PIPE_BUF is at least 512; Linux has 4,096).
    private static let longestLine = 500

    /// Writes one line, cut where it is too long for one write. Returns whether it was written.
    @discardableResult
    package static func write(line: String, to descriptor: Int32 = STDERR_FILENO) -> Bool {
        guard isStream(descriptor), takesMore(descriptor) else { return false }
        let text = line.split(whereSeparator: \.isNewline).joined(separator: " ")
        var bytes = Array(text.utf8.prefix(longestLine))
        // Not in the middle of a character.
        while bytes.count < text.utf8.count, let last = bytes.last, last >= 0x80 {
            bytes.removeLast()
            if last >= 0xC0 { break }
        }
        bytes.append(UInt8(ascii: "\n"))
        return withoutBrokenPipe { bytes.withUnsafeBytes { posixWrite(descriptor, $0.baseAddress, $0.count) } } > 0
    }

    /// A file that is open for reading, too, is somebody's data, which got the number because it was free: a redirection
    /// opens a file for writing only.
    private static func isStream(_ descriptor: Int32) -> Bool {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return false }
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, flags & O_ACCMODE != O_RDONLY else { return false }
        return info.st_mode & S_IFMT != S_IFREG || flags & O_ACCMODE == O_WRONLY
    }

    private static func takesMore(_ descriptor: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, 0) == 1 && request.revents & Int16(POLLOUT) != 0
    }

    /// Runs `body` without the signal that a pipe without a reader raises, whose default action ends the process.
    private static func withoutBrokenPipe(_ body: () -> Int) -> Int {
        var pipe = sigset_t()
        var before = sigset_t()
        var pending = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        sigpending(&pending)
        let wasPending = sigismember(&pending, SIGPIPE) == 1
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        let result = body()
        if !wasPending {
            sigpending(&pending)
            // Ours, and this thread's alone: taken away before the mask is put back.
            var taken: Int32 = 0
            if sigismember(&pending, SIGPIPE) == 1 { sigwait(&pipe, &taken) }
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
        return result
    }

    private static func posixWrite(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, start, count)
        #elseif canImport(Musl)
            Musl.write(descriptor, start, count)
        #else
            Glibc.write(descriptor, start, count)
        #endif
    }
}
