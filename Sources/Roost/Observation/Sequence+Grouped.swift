// SPDX-License-Identifier: Apache-2.0

extension Sequence {
    /// The elements by a key of theirs, each group in the sequence's order.
    public func grouped<Key: Hashable>(by key: (Element) throws -> Key) rethrows -> [Key: [Element]] {
        try Dictionary(grouping: self, by: key)
    }
}
