// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs a task on threads of its own, so that it may block without holding up the others: there are as many threads for
/// those as there are processors.
package final class OwnThreadExecutor: TaskExecutor {
    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
