// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import Roost

struct SerialThreadTests {
    @Test func workRunsInOrderOnOneThreadAndAllOfItBeforeTheEnd() {
        let order = Mutex<[Int]>([])
        let threads = Mutex<Set<ObjectIdentifier>>([])
        let done = DispatchSemaphore(value: 0)
        do {
            let thread = SerialThread(name: "test")
            for number in 0..<1_000 {
                thread.async {
                    order.withLock { $0.append(number) }
                    threads.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) }
                }
            }
            thread.async { done.signal() }
        }
        done.wait()
        #expect(order.withLock { $0 } == Array(0..<1_000))
        #expect(threads.withLock { $0.count } == 1)
    }
}
