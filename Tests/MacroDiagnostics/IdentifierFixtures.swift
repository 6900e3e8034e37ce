// SPDX-License-Identifier: Apache-2.0

extension Fixture {
    /// What is asked of `id`.
    static let identifiers = [
        Fixture(
            "missing id",
            """

            @Entity struct NoID {
            //             ^ error: @Entity needs a stored property named id: add one, such as 'var id: Int'
            //             ^ note: add 'var id: Int'
                static let id = 1
                var name: String
            }
            """
        ),
        Fixture(
            "optional id",
            """

            @Entity struct OptionalID {
                var id: Int?
            //          ^ error: an id cannot be optional: every stored entity has one, so remove the optional
            //          ^ note: use 'Int'
            }
            @Entity struct SpelledOptionalID {
                var id: Optional<Int>
            //          ^ error: an id cannot be optional: every stored entity has one, so remove the optional
            //          ^ note: use 'Int'
            }
            @Entity struct UnwrappedID {
                var id: Int!
            //          ^ error: an id cannot be optional: every stored entity has one, so remove the optional
            //          ^ note: use 'Int'
            }
            """
        ),
        Fixture(
            "computed id",
            """

            @Entity struct ComputedID {
                var name: String
                var id: String { name }
            //      ^ error: an id cannot be computed: make it a stored property, such as 'var id: Int'
            }
            """
        ),
        Fixture(
            "array id",
            """

            @Entity struct ArrayID {
                var id: [Int]
            //          ^ error: an id cannot be an array: use one value, such as an Int or a String
            }
            """
        ),
        Fixture(
            "hidden id",
            """

            @Entity public struct HiddenID {
                var id: Int
            //  ^ error: the id of a public entity must be visible wherever the entity is: make it 'public'
            //  ^ note: use 'public var'
            }
            @Entity package struct PrivateID {
                internal let id: Int
            //           ^ error: the id of a package entity must be visible wherever the entity is: make it
            //             'package'
            }
            @Entity public struct HalfHiddenID {
                public private(set) var id: Int
            }
            """
        ),
        Fixture(
            "inferred and quoted id",
            """

            @Entity struct QuotedID {
                var `id` = 0
            }
            """
        ),
    ]
}
