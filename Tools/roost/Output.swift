// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A buffered stream whose failed writes are errors: a full disk is reported, a closed pipe ends the program.
final class Output {
    struct Failure: Error {
        let code: Int32
    }

    private static let capacity = 1 << 16

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(descriptor: Int32) { self.descriptor = descriptor }

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
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw Failure(code: errno) }
            done += written
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
