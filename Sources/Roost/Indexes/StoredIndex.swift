// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// One secondary index of an open store.
final class StoredIndex: Sendable {
    struct Component: Sendable {
        /// Position of the field in the record's layout.
        let position: Int
        let scalar: FieldType.Scalar
        let isOptional: Bool
        /// Bytes in a key; 0 when the length varies.
        let keyWidth: Int

        init(position: Int, scalar: FieldType.Scalar, isOptional: Bool) {
            self.position = position
            self.scalar = scalar
            self.isOptional = isOptional
            keyWidth = scalar.codec.keyWidth
        }
    }

    let number: Int
    let database: Database
    let databaseNumber: Int
    let components: [Component]
    let kind: IndexKind
    let textLimit: Int
    /// Whether its keys are the ones that this build makes of the values: not where text in it was normalised by other
    /// Unicode data.
    let hasOwnKeys: Bool
    /// As `explain` and the tool print it: `City(country, population)`.
    let name: String

    init(
        number: Int, database: Database, databaseNumber: Int, components: [Component], kind: IndexKind, textLimit: Int,
        hasOwnUnicode: Bool, entityName: String,
        fieldNames: [String]
    ) {
        self.number = number
        self.database = database
        self.databaseNumber = databaseNumber
        self.components = components
        self.kind = kind
        self.textLimit = textLimit
        hasOwnKeys = hasOwnUnicode || !components.contains { $0.scalar.codec.followsUnicode }
        name = kind.name(entityName, fieldNames)
    }

    /// Whether a key of this index can be cut, so that its order is not the values' order.
    var hasVaryingComponent: Bool { components.contains { $0.keyWidth == 0 } }
}
