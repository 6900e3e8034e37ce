// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A number that closures on any thread can count up.
final class Counter: Sendable {
    private let number = Atomic<Int>(0)
    var value: Int { number.load(ordering: .sequentiallyConsistent) }
    func increment() { number.add(1, ordering: .sequentiallyConsistent) }
}
