// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A file without a name, for what need not outlive this object: it is gone with its descriptor, however the process ends.
/// Only its owner may read it (mode 0600), and programs that this one starts do not get it.
package final class ScratchFile: Sendable {
    private let descriptor: Int32

    package init(in directory: String) throws(LMDBError) {
        descriptor = Self.open(in: directory)
        guard descriptor >= 0 else { throw failure(errno, "open") }
    }

    deinit { close(descriptor) }

    private static func open(in directory: String) -> Int32 {
        #if os(Linux)
            // O_TMPFILE, which C spells so that Swift does not see it. Some file systems and old kernels do not know it.
            let unnamed = Descriptors.open(directory, 0o20_000_000 | O_DIRECTORY | O_RDWR, 0o600)
            if unnamed >= 0 { return unnamed }
        #endif
        let name = directory + "/scratch-" + String(UInt64.random(in: .min ... .max), radix: 16)
        let named = Descriptors.open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
        if named >= 0 { unlink(name) }
        return named
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LMDBError) {
        var done = 0
        while done < bytes.count, let start = bytes.baseAddress {
            let count = pwrite(descriptor, start + done, bytes.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(count == 0 || errno == EDQUOT ? ENOSPC : errno, "pwrite") }
            done += count
        }
    }

    /// Fills `bytes` with what was written at `offset`.
    package func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(LMDBError) {
        var done = 0
        while done < bytes.count, let start = bytes.baseAddress {
            let count = pread(descriptor, start + done, bytes.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(count == 0 ? EIO : errno, "pread") }
            done += count
        }
    }
}
