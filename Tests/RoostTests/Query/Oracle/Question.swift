// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// A predicate, and what it means by Foundation or by a closure of the test's own.
struct Question<T: Entity> {
    let name: String
    let predicate: Predicate<T>?
    let holds: (T) throws -> Bool

    /// What Foundation says.
    init(_ name: String, _ predicate: Predicate<T>) {
        self.name = name
        self.predicate = predicate
        holds = { try predicate.evaluate($0) }
    }

    /// For text whose order differs from Swift's `<`, and where Foundation traps.
    init(_ name: String, _ predicate: Predicate<T>?, by holds: @escaping (T) -> Bool) {
        self.name = name
        self.predicate = predicate
        self.holds = holds
    }
}

/// Order as the documentation of `FetchDescriptor` describes it, written for the tests alone.
enum Text {
    static func key(_ text: String) -> [UInt8] { Array(text.precomposedStringWithCanonicalMapping.utf8) }

    static func less(_ lhs: String, _ rhs: String) -> Bool { key(lhs).lexicographicallyPrecedes(key(rhs)) }

    static func isUnnormalized(_ text: String) -> Bool { Array(text.utf8) != key(text) }
}
