// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Whether a task was cancelled, for work that waits on a queue.
final class CancellationFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    var isSet: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
}
