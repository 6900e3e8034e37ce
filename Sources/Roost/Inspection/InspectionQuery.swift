// SPDX-License-Identifier: Apache-2.0

/// A fetch in words: what someone asks who has the store, but not its Swift types.
package struct InspectionQuery: Sendable {
    package enum Operation: String, Sendable, CaseIterable {
        case equal = "="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case startsWith = "^="
    }

    /// One test of a field. On an array `=` means that an element is there, `!=` that none is.
    package struct Condition: Sendable {
        package var field: String
        package var operation: Operation
        /// Spelled as the field's `ScalarCodec` reads it; `null` stands for a missing value where the field can miss one.
        package var value: String

        package init(field: String, operation: Operation, value: String) {
            self.field = field
            self.operation = operation
            self.value = value
        }
    }

    package struct Sort: Sendable {
        package var field: String
        package var descending: Bool

        package init(field: String, descending: Bool) {
            self.field = field
            self.descending = descending
        }
    }

    package var entity: String
    /// All of them must hold.
    package var conditions: [Condition] = []
    /// As in `FetchDescriptor`: ties are broken by ID in the direction of the last criterion; without any, by ID.
    package var sort: [Sort] = []
    package var limit: Int?
    package var offset = 0

    package init(entity: String) { self.entity = entity }
}
