// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A shared lock on `roost.lock` for as long as the store is open. Who must be alone with a store, to compact it in place,
/// takes the lock exclusively.
///
/// Not LMDB's lock file: opening and closing that one would drop LMDB's own locks (hazard 2).
final class PresenceLock: Sendable {
    private let descriptor: Int32

    init(directory: String) throws(StoreError) {
        let path = directory + "/roost.lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw StoreError(systemError: errno, doing: "open: \(SystemCode.describe(errno))", path: path)
        }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw StoreError(
                .alreadyOpen, "The store is being compacted by another process: try again later.", cause: code,
                path: directory)
        }
    }

    deinit { close(descriptor) }
}
