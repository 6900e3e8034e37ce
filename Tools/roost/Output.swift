// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A buffered stream whose failed writes are errors: a full disk or a closed stream is reported, a closed pipe ends the
/// program.
final class Output {
    struct Failure: Error {
        let code: Int32
    }

    private static let capacity = 1 << 16

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Takes the numbers 0 to 2 that the program was started without, so that no file of a store gets one of them. A write
    /// to such a number fails, as it does on a closed one.
    static func reserveStandardDescriptors() {
        while true {
            let descriptor = open("/dev/null", O_RDONLY)
            if descriptor > STDERR_FILENO { close(descriptor) }
            guard (0...STDERR_FILENO).contains(descriptor) else { return }
        }
    }

    /// Failures are what writes return: neither a reader that goes away nor a file's size limit ends the program by a
    /// signal.
    static func ignoreSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    func write(_ text: String) throws(Failure) {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= Self.capacity { try flush() }
    }

    func flush() throws(Failure) {
        var done = 0
        while done < buffer.count {
            let start = done
            let written = buffer.withUnsafeBytes { bytes in
                Foundation.write(descriptor, bytes.baseAddress.map { $0 + start }, bytes.count - start)
            }
            if written > 0 {
                done += written
                continue
            }
            switch errno {
            case EINTR: continue
            // Somebody has made the stream a non-blocking one.
            case EAGAIN, EWOULDBLOCK: waitUntilReady()
            default: throw Failure(code: errno)
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    private func waitUntilReady() {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&request, 1, -1)
    }
}
