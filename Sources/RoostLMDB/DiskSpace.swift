// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB
import Foundation

/// Tells a full disk from a failing one: where the system writes less than it was asked to, LMDB reports an I/O error.
enum DiskSpace {
    /// Less than this is too little for the next pages.
    private static let least = 1 << 20

    /// `ENOSPC` in the place of `EIO` and of a used-up quota, where the file's system has no room left.
    static func diagnose(_ code: Int32, _ environment: OpaquePointer) -> Int32 {
        if code == EDQUOT { return ENOSPC }
        guard code == EIO else { return code }
        var descriptor: mdb_filehandle_t = -1
        var system = statvfs()
        guard mdb_env_get_fd(environment, &descriptor) == MDB_SUCCESS, fstatvfs(descriptor, &system) == 0 else {
            return code
        }
        let left = UInt64(system.f_bavail) * UInt64(system.f_frsize)
        return left < UInt64(least) ? ENOSPC : code
    }
}
