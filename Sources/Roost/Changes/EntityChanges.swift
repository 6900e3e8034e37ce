// SPDX-License-Identifier: Apache-2.0

/// What one commit did to the objects of one entity, without the Swift type.
struct EntityChanges: Sendable {
    enum Kind: UInt8, Sendable { case inserted, updated, deleted }

    struct Row: Sendable {
        let key: [UInt8]
        let kind: Kind
        let fields: ChangedFields
        /// The records before and after, where the commit was made while someone observed the store.
        let old: [UInt8]?
        let new: [UInt8]?
    }

    let entity: Int
    let name: String
    /// False when the commit changed more objects than are followed one by one: any object may have changed.
    var isComplete = true
    var rows: [Row] = []
}
