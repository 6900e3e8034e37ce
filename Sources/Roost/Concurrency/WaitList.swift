// SPDX-License-Identifier: Apache-2.0

/// What waits, first come first served, and can leave from anywhere in the queue; each in constant time.
struct WaitList<Element> {
    /// Names a place in the queue.
    typealias Ticket = UInt64

    private var elements: [Ticket: Element] = [:]
    private var first: Ticket = 0
    private var next: Ticket = 0

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }

    /// Costs the sorting of those that wait.
    var elementsInOrder: [Element] { elements.sorted { $0.key < $1.key }.map(\.value) }

    mutating func append(_ element: Element) -> Ticket {
        elements[next] = element
        defer { next += 1 }
        return next
    }

    mutating func popFirst() -> Element? {
        while first < next {
            defer { first += 1 }
            if let element = elements.removeValue(forKey: first) { return element }
        }
        return nil
    }

    /// Nil when it has left, or was taken, before.
    @discardableResult
    mutating func remove(_ ticket: Ticket) -> Element? { elements.removeValue(forKey: ticket) }

    mutating func removeAll() -> [Element] {
        var all: [Element] = []
        while let element = popFirst() { all.append(element) }
        return all
    }
}
