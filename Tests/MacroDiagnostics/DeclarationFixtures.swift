// SPDX-License-Identifier: Apache-2.0

extension Fixture {
    /// What `@Entity` may be attached to.
    static let declarations = [
        Fixture(
            "class",
            """

            @Entity class KindClass {
            //      ^ error: @Entity needs a struct: a class cannot be an entity
            //      ^ note: use 'struct'
                var id = 1
            }
            """
        ),
        Fixture(
            "enum",
            """

            @Entity enum KindEnum { case one }
            //      ^ error: @Entity needs a struct: an enum cannot be an entity
            """
        ),
        Fixture(
            "actor",
            """

            @Entity actor KindActor {
            //      ^ error: @Entity needs a struct: an actor cannot be an entity
            //      ^ note: use 'struct'
                var id = 1
            }
            """
        ),
        Fixture(
            "generic struct",
            """

            @Entity struct Box<Content> {
            //                ^ error: @Entity needs a struct without generic parameters: write one struct for each
            //                  type that is stored
                var id: Int
            }
            """
        ),
        Fixture(
            "struct in a generic type",
            """

            struct Outer<Content> {
                @Entity struct InsideGeneric {
            //                 ^ error: @Entity needs a struct outside generic types: move it out of Outer
                    var id: Int
                }
            }
            """
        ),
        Fixture(
            "private struct in a type",
            """

            enum Space {
                @Entity private struct Hidden {
            //          ^ error: @Entity cannot extend a private struct inside another type: make it 'fileprivate'
            //          ^ note: use 'fileprivate'
                    var id: Int
                }
                @Entity fileprivate struct Seen {
                    private var name: String
                    var id: Int
                }
            }
            """
        ),
        Fixture(
            "private struct in a file",
            """

            @Entity private struct FileHidden {
                var id: Int
                private var name: String
            }
            """
        ),
        Fixture(
            "struct that names the protocol",
            """

            @Entity struct Stated: Entity {
                var id: Int
            }
            """
        ),
        Fixture(
            "struct in a public extension",
            """

            public enum Land {}
            public extension Land {
                @Entity struct County {
                    public var id: Int
                }
            }
            """
        ),
        Fixture(
            "deprecated struct",
            """

            @available(*, deprecated) @Entity struct Old {
                var id: Int
            }
            """
        ),
    ]
}
