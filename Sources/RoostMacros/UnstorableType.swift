// SPDX-License-Identifier: Apache-2.0

/// A well-known type that Roost has no record form for, with what to use instead.
struct UnstorableType {
    /// The type in the words of a message, such as "a Set".
    let what: String

    let advice: String

    /// The type a fix-it can put in its place.
    var replacement: String?

    /// Whether a fix-it can turn `Name<T>` into `[T]`.
    var becomesArray = false

    /// Whether the name is one that people also give to types of their own.
    var isCommonName = false

    static let dictionary = UnstorableType(
        what: "a dictionary",
        advice: "use an array of keys and one of values, or make its entries an entity"
    )

    static func named(_ name: String) -> UnstorableType? {
        if let known = byName[name] { return known }
        // The Objective-C classes of Foundation: NSObject, NSString, NSDate and so on.
        let afterPrefix = name.dropFirst(2)
        guard name.hasPrefix("NS"), let first = afterPrefix.first, first.isUppercase else { return nil }
        return UnstorableType(what: "an \(name)", advice: "it is a class, so use a Swift value type")
    }

    private static let range = "store its two bounds as properties of their own"
    private static let untyped = "use a concrete type"

    private static let byName: [String: UnstorableType] = [
        "Set": UnstorableType(what: "a Set", advice: "use an array", becomesArray: true),
        "Dictionary": dictionary,
        "ContiguousArray": UnstorableType(what: "a ContiguousArray", advice: "use an array", becomesArray: true),
        "ArraySlice": UnstorableType(what: "an ArraySlice", advice: "use an array", becomesArray: true),
        "Decimal": UnstorableType(
            what: "a Decimal",
            advice: "store a count of its smallest unit as Int, or its description as String"
        ),
        "URL": UnstorableType(what: "a URL", advice: "store its absoluteString as String", replacement: "String"),
        "Character": UnstorableType(
            what: "a Character",
            advice: "store it as String",
            replacement: "String",
            isCommonName: true
        ),
        "Substring": UnstorableType(what: "a Substring", advice: "store it as String", replacement: "String"),
        "CGFloat": UnstorableType(what: "a CGFloat", advice: "store it as Double", replacement: "Double"),
        "Any": UnstorableType(what: "Any", advice: untyped),
        "AnyObject": UnstorableType(what: "AnyObject", advice: untyped),
        "AnyHashable": UnstorableType(what: "AnyHashable", advice: untyped),
        "Void": UnstorableType(what: "a Void", advice: "remove the property"),
        "Range": UnstorableType(what: "a Range", advice: range, isCommonName: true),
        "ClosedRange": UnstorableType(what: "a ClosedRange", advice: range),
        "PartialRangeFrom": UnstorableType(what: "a PartialRangeFrom", advice: "store its bound"),
        "PartialRangeThrough": UnstorableType(what: "a PartialRangeThrough", advice: "store its bound"),
        "PartialRangeUpTo": UnstorableType(what: "a PartialRangeUpTo", advice: "store its bound"),
        "Error": UnstorableType(
            what: "an Error",
            advice: "store its code as Int or its text as String",
            isCommonName: true
        ),
        "Result": UnstorableType(
            what: "a Result",
            advice: "store its success value and its failure as optional properties",
            isCommonName: true
        ),
    ]
}
