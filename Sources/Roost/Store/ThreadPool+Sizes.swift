// SPDX-License-Identifier: Apache-2.0

import Foundation

extension ThreadPool.Size {
    /// For fetches: the program's own as many at once as there are readers; observers' as many as the processors carry, and
    /// more when some take long.
    static func readers(limit: Int) -> ThreadPool.Size {
        ThreadPool.Size(
            steady: limit, limit: limit, reserved: limit > 1 ? 1 : 0,
            steadyObservers: max(2, ProcessInfo.processInfo.activeProcessorCount), patience: .milliseconds(20))
    }

    /// For observers' mapping closures: as many at once as the processors carry, and up to 512 that do not return.
    static func maps(directory: String) -> ThreadPool.Size {
        let steady = max(4, 2 * ProcessInfo.processInfo.activeProcessorCount)
        return ThreadPool.Size(steady: steady, limit: max(steady, mapLimit), patience: .milliseconds(50)) {
            Diagnostics.report(
                .mapsBlocked,
                "\(mapLimit) mapping closures of observers do not return; further ones wait for one of them.",
                path: directory)
        }
    }

    static var mapLimit: Int { 512 }
}
