// SPDX-License-Identifier: Apache-2.0

extension Fixture {
    /// How a property may be stored.
    static let storage = [
        Fixture(
            "let with a value",
            """

            @Entity struct LetValue {
                var id: Int
                let kind = "city"
            //  ^ error: Roost cannot load 'kind', a 'let' that already has its value: make it 'var' or 'static let'
            //  ^ note: use 'var'
            //  ^ note: use 'static let'
                static let shared = 1
            }
            """
        ),
        Fixture(
            "lazy",
            """

            @Entity struct Lazy {
                var id: Int
                lazy var length = 1
            //  ^ error: Roost cannot store the lazy property 'length': remove 'lazy' or make it computed
            //  ^ note: remove 'lazy'
            }
            """
        ),
        Fixture(
            "property wrapper",
            """

            @propertyWrapper struct Trimmed { var wrappedValue: String }
            @Entity struct Wrapped {
                var id: Int
                @Trimmed var name: String
            //  ^ error: Roost cannot store a property with '@Trimmed': remove the attribute, or make the property
            //    computed
                @MainActor var computed: Int { 1 }
            }
            """
        ),
        Fixture(
            "weak and unowned",
            """

            final class Owner: Sendable {}
            @Entity struct References {
                var id: Int
                weak var owner: Owner?
            //  ^ error: Roost cannot store the weak reference 'owner': use a Ref to another entity
                unowned var other: Owner
            //  ^ error: Roost cannot store the unowned reference 'other': use a Ref to another entity
            }
            """
        ),
        Fixture(
            "no type",
            """

            @Entity struct NoType {
                var id: Int
                var names = [] as [String]
            //      ^ error: Roost cannot see the type of 'names' here: write it out
            //      ^ note: add the type
                var count = -1, title = "x", isOpen = true, height = +1.5
                var `default` = Int(1)
            //      ^ error: Roost cannot see the type of 'default' here: write it out
            //      ^ note: add the type
            }
            """
        ),
        Fixture(
            "tuple pattern",
            """

            @Entity struct Pattern {
                var id: Int
                var (a, b) = (1, 2)
            //      ^ error: Roost cannot store properties declared as a tuple: declare each with its own 'var'
            }
            """
        ),
        Fixture(
            "conditional property",
            """

            @Entity struct Conditional {
                var id: Int
                #if os(Linux)
                    var penguins: Int
            //          ^ error: Roost cannot store 'penguins' inside '#if', as the record would differ between
            //            builds: move it out
                    var computed: Int { 1 }
                #else
                    var apples: Int
            //          ^ error: Roost cannot store 'apples' inside '#if', as the record would differ between builds:
            //            move it out
                #endif
            }
            """
        ),
        Fixture(
            "several problems",
            """

            @Entity struct Several<Content> {
            //                    ^ error: @Entity needs a struct without generic parameters: write one struct for
            //                      each type that is stored
            //             ^ error: @Entity needs a stored property named id: add one, such as 'var id: Int'
            //             ^ note: add 'var id: Int'
                let kind = 1
            //  ^ error: Roost cannot load 'kind', a 'let' that already has its value: make it 'var' or 'static let'
            //  ^ note: use 'var'
            //  ^ note: use 'static let'
                lazy var length = 1
            //  ^ error: Roost cannot store the lazy property 'length': remove 'lazy' or make it computed
            //  ^ note: remove 'lazy'
                var tags: Set<String>, more: [Int: Int]
            //            ^ error: Roost cannot store a Set: use an array
            //            ^ note: use '[String]'
            //                               ^ error: Roost cannot store a dictionary: use an array of keys and one
            //                                 of values, or make its entries an entity
                var fine: Int
            }
            """
        ),
    ]
}
