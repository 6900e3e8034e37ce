// SPDX-License-Identifier: Apache-2.0

/// A secondary index: objects in the order of one or more of their fields, kept in the same transaction as the objects.
///
/// ```swift
/// Index(\.country, \.population)      // equality on country, then a range, or an order, of population
/// Index(each: \.alternateNames)       // one entry for each element of an array
/// ```
///
/// Every index can be scanned in both directions. Each costs an entry for each object (or element), and a B-tree insertion
/// and a deletion in a write that changes its fields. Text and data beyond 247 bytes, less where several share an index, are
/// cut in it and compared on the objects.
///
/// A key path must name stored properties: others throw `invalidSchema` when the store is opened.
public struct Index<Root: Entity>: Sendable {
    let keyPaths: [PartialKeyPath<Root> & Sendable]
    let kind: IndexKind

    /// An index over one or more fields, the first the most significant.
    public init<each Value: FieldValue>(_ keyPaths: repeat KeyPath<Root, each Value> & Sendable) {
        var list: [PartialKeyPath<Root> & Sendable] = []
        repeat list.append(each keyPaths)
        self.keyPaths = list
        kind = .values
    }

    /// An index with one entry for each distinct element of an array.
    public init<Element: FieldValue>(each keyPath: KeyPath<Root, [Element]> & Sendable) {
        keyPaths = [keyPath]
        kind = .elements
    }
}
