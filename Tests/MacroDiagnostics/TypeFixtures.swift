// SPDX-License-Identifier: Apache-2.0

extension Fixture {
    /// The types a property may have.
    static let types = [
        Fixture(
            "optionals",
            """

            @Entity struct Optionals {
                var id: Int
                var a: Int!
            //         ^ error: Roost cannot store an implicitly unwrapped optional: use '?' in place of '!'
            //         ^ note: use 'Int?'
                var b: Int??
            //         ^ error: Roost cannot store an optional of an optional: use one '?'
            //         ^ note: use 'Int?'
                var c: Optional<Int?>
            //         ^ error: Roost cannot store an optional of an optional: use one '?'
            //         ^ note: use 'Int?'
                var d: [Optional<Int>?]
            //          ^ error: Roost cannot store an optional of an optional: use one '?'
            //          ^ note: use 'Optional<Int>'
                var fine: Optional<Int>
            }
            """
        ),
        Fixture(
            "forms",
            """

            @Entity struct Forms {
                var id: Int
                var a: (Int, Int)
            //         ^ error: Roost cannot store a tuple: use a property for each of its parts
                var b: () -> Void
            //         ^ error: Roost cannot store a function: make the property computed or static
                var c: @Sendable (Int) -> Int
            //                   ^ error: Roost cannot store a function: make the property computed or static
                var d: any Sendable
            //         ^ error: Roost cannot store an 'any' type: use a concrete type
                var e: some Sendable = 1
            //         ^ error: Roost cannot store a 'some' type: use a concrete type
                var f: [String: Int]
            //         ^ error: Roost cannot store a dictionary: use an array of keys and one of values, or make its
            //           entries an entity
                var g: Int.Type
            //         ^ error: Roost cannot store a metatype: store the type's name as String
                var h: (any Sendable)?
            //          ^ error: Roost cannot store an 'any' type: use a concrete type
                var i: [(x: Int, y: Int)]
            //          ^ error: Roost cannot store a tuple: use a property for each of its parts
                var fine: (Int)
            }
            """
        ),
        Fixture(
            "standard types",
            """

            @Entity struct Standard {
                var id: Int
                var a: Set<String>
            //         ^ error: Roost cannot store a Set: use an array
            //         ^ note: use '[String]'
                var b: Dictionary<String, Int>?
            //         ^ error: Roost cannot store a dictionary: use an array of keys and one of values, or make its
            //           entries an entity
                var c: Swift.Set<Int>?
            //         ^ error: Roost cannot store a Set: use an array
            //         ^ note: use '[Int]'
                var d: Character
            //         ^ error: Roost cannot store a Character: store it as String
            //         ^ note: use 'String'
            //         ^ note: if Character is a type of your own, write the name of its module before it, as in
            //           'App.Character'
                var e: [Substring]
            //          ^ error: Roost cannot store a Substring: store it as String
            //          ^ note: use 'String'
                var f: Any
            //         ^ error: Roost cannot store Any: use a concrete type
                var g: AnyObject
            //         ^ error: Roost cannot store AnyObject: use a concrete type
                var h: Range<Int>
            //         ^ error: Roost cannot store a Range: store its two bounds as properties of their own
            //         ^ note: if Range is a type of your own, write the name of its module before it, as in
            //           'App.Range'
                var i: Error
            //         ^ error: Roost cannot store an Error: store its code as Int or its text as String
            //         ^ note: if Error is a type of your own, write the name of its module before it, as in
            //           'App.Error'
                var j: Result<Int, Never>
            //         ^ error: Roost cannot store a Result: store its success value and its failure as optional
            //           properties
            //         ^ note: if Result is a type of your own, write the name of its module before it, as in
            //           'App.Result'
                var k: ArraySlice<Int>
            //         ^ error: Roost cannot store an ArraySlice: use an array
            //         ^ note: use '[Int]'
                var l, m: Array<Set<Int>>
            //                  ^ error: Roost cannot store a Set: use an array
            //                  ^ note: use '[Int]'
            }
            """
        ),
        Fixture(
            "Foundation types",
            """
            import Foundation
            @Entity struct FromFoundation {
                var id: Int
                var a: Decimal
            //         ^ error: Roost cannot store a Decimal: store a count of its smallest unit as Int, or its
            //           description as String
                var b: URL?
            //         ^ error: Roost cannot store a URL: store its absoluteString as String
            //         ^ note: use 'String'
                var c: [Foundation.URL]
            //          ^ error: Roost cannot store a URL: store its absoluteString as String
            //          ^ note: use 'String'
                var d: CGFloat
            //         ^ error: Roost cannot store a CGFloat: store it as Double
            //         ^ note: use 'Double'
                var e: NSString
            //         ^ error: Roost cannot store an NSString: it is a class, so use a Swift value type
            }
            """
        ),
        Fixture(
            "own types with well known names",
            """

            enum Game { struct Result {} }
            @Entity struct OwnTypes {
                struct Character {}
                var id: Int
                var character: Character
                var result: Game.Result
            }
            """
        ),
    ]
}
