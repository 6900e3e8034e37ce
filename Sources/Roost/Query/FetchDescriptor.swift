// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What to fetch: which objects of an entity, in which order, how many.
///
/// ```swift
/// var request = FetchDescriptor<City>(
///     predicate: #Predicate { $0.country.id == "FR" && $0.population > 100_000 },
///     sortBy: [SortDescriptor(\.population, order: .reverse)])
/// request.fetchLimit = 20
/// let largest = try await store.fetch(request)
/// ```
///
/// The result has one order: by the sort descriptors, then by ID in the direction of the last descriptor; without any, by
/// ID. Text is ordered by the UTF-8 bytes of its NFC form, unless a descriptor has a `stringComparator`; nil sorts first,
/// NaN last.
///
/// A request is a value: making one reads nothing, and it can be kept and used with any store.
public struct FetchDescriptor<T: Entity>: Sendable {
    /// The condition that objects must meet. Nil fetches every object.
    public var predicate: Predicate<T>?
    /// The order of the result, the first descriptor the most significant. Empty orders by ID.
    public var sortBy: [SortDescriptor<T>]
    /// At most this many objects. Nil, or a negative number, sets no limit.
    public var fetchLimit: Int?
    /// How many objects of the ordered result to leave out at its start. Nil, or a negative number, leaves out none. Those
    /// that are left out are found all the same, so that the cost grows with the offset; where an index gives the order and
    /// nothing is tested, only their index entries are read.
    public var fetchOffset: Int?

    /// A request for the objects that match `predicate`, in the order of `sortBy`.
    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}
