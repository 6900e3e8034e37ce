// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What closures on any thread note, in the order in which they do.
final class Log<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    func note(_ element: Element) { elements.withLock { $0.append(element) } }
    var noted: [Element] { elements.withLock { $0 } }
}
