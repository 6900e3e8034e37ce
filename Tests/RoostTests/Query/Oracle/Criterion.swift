// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// A sort descriptor, and its order by a comparison of the test's own.
struct Criterion<T: Entity> {
    let name: String
    let descriptor: (SortOrder) -> SortDescriptor<T>
    /// Ascending.
    let precedes: (T, T) -> Bool
    var isNil: (T) -> Bool = { _ in false }
    var isNaN: (T) -> Bool = { _ in false }
    var isUnnormalized: (T) -> Bool = { _ in false }
}

extension Criterion {
    static func plain<V: Comparable>(_ path: KeyPath<T, V> & Sendable) -> Criterion {
        Criterion(
            name: "\(path)", descriptor: { SortDescriptor(path, order: $0) },
            precedes: { $0[keyPath: path] < $1[keyPath: path] })
    }

    static func optional<V: Comparable>(_ path: KeyPath<T, V?> & Sendable) -> Criterion {
        Criterion(
            name: "\(path)", descriptor: { SortDescriptor(path, order: $0) },
            precedes: { nilFirst($0[keyPath: path], $1[keyPath: path], by: <) },
            isNil: { $0[keyPath: path] == nil })
    }

    static func floating<V: BinaryFloatingPoint>(_ path: KeyPath<T, V> & Sendable) -> Criterion {
        Criterion(
            name: "\(path)", descriptor: { SortDescriptor(path, order: $0) },
            precedes: { nanLast($0[keyPath: path], $1[keyPath: path]) },
            isNaN: { $0[keyPath: path].isNaN })
    }

    static func floating<V: BinaryFloatingPoint>(_ path: KeyPath<T, V?> & Sendable) -> Criterion {
        Criterion(
            name: "\(path)", descriptor: { SortDescriptor(path, order: $0) },
            precedes: { nilFirst($0[keyPath: path], $1[keyPath: path], by: nanLast) },
            isNil: { $0[keyPath: path] == nil },
            isNaN: { $0[keyPath: path]?.isNaN == true })
    }

    static func text(_ path: KeyPath<T, String> & Sendable) -> Criterion {
        Criterion(
            name: "\(path)", descriptor: { SortDescriptor(path, order: $0) },
            precedes: { Text.less($0[keyPath: path], $1[keyPath: path]) },
            isUnnormalized: { Text.isUnnormalized($0[keyPath: path]) })
    }

    static func text(_ path: KeyPath<T, String?> & Sendable) -> Criterion {
        Criterion(
            name: "\(path)", descriptor: { SortDescriptor(path, order: $0) },
            precedes: { nilFirst($0[keyPath: path], $1[keyPath: path], by: Text.less) },
            isNil: { $0[keyPath: path] == nil },
            isUnnormalized: { $0[keyPath: path].map(Text.isUnnormalized) ?? false })
    }

    /// A descriptor with a comparator of its own sorts as Foundation sorts with it.
    static func compared(
        _ path: KeyPath<T, String> & Sendable, _ comparator: String.StandardComparator, _ name: String
    ) -> Criterion {
        let forward = SortDescriptor(path, comparator: comparator)
        return Criterion(
            name: "\(path) \(name)", descriptor: { SortDescriptor(path, comparator: comparator, order: $0) },
            precedes: { forward.compare($0, $1) == .orderedAscending },
            isUnnormalized: { Text.isUnnormalized($0[keyPath: path]) })
    }
}

private func nilFirst<V>(_ lhs: V?, _ rhs: V?, by precedes: (V, V) -> Bool) -> Bool {
    guard let rhs else { return false }
    guard let lhs else { return true }
    return precedes(lhs, rhs)
}

private func nanLast<V: BinaryFloatingPoint>(_ lhs: V, _ rhs: V) -> Bool {
    if lhs.isNaN { return false }
    return rhs.isNaN || lhs < rhs
}
