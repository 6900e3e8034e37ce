// SPDX-License-Identifier: Apache-2.0

/// What a field holds, as the catalog keeps it and as every part of the store reads it: the Swift type is not needed.
///
/// Spelled in the catalog as `int64`, `string?`, `[string]`, `[uuid?]?`.
@_documentation(visibility: internal)
public indirect enum FieldType: Hashable, Sendable {
    /// A single value of a fixed kind.
    case scalar(Scalar)
    /// A value that may be missing.
    case optional(FieldType)
    /// A list of values.
    case array(FieldType)

    /// The kinds of value that a store knows.
    public enum Scalar: String, Sendable, CaseIterable {
        case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64
        case float, double, date, uuid, string, data
    }

    /// The type without its outermost `Optional`.
    var unwrapped: FieldType {
        if case .optional(let wrapped) = self { return wrapped }
        return self
    }

    var isOptional: Bool {
        if case .optional = self { return true }
        return false
    }

    /// The scalar, when the type is one or an optional one.
    var scalar: Scalar? {
        if case .scalar(let scalar) = unwrapped { return scalar }
        return nil
    }

    /// The element's type, when the type is an array or an optional one.
    var element: FieldType? {
        if case .array(let element) = unwrapped { return element }
        return nil
    }
}

extension FieldType: CustomStringConvertible {
    public var description: String {
        switch self {
        case .scalar(let scalar): scalar.rawValue
        case .optional(let wrapped): "\(wrapped)?"
        case .array(let element): "[\(element)]"
        }
    }

    /// Arrays within arrays, at most: any text is read without running out of stack.
    static let maximumDepth = 32

    /// Reads the catalog's spelling; nil for anything else.
    init?(_ description: some StringProtocol) { self.init(Substring(description), depth: 0) }

    private init?(_ description: Substring, depth: Int) {
        guard depth <= 2 * Self.maximumDepth else { return nil }
        if description.last == "?" {
            guard let wrapped = FieldType(description.dropLast(), depth: depth + 1), !wrapped.isOptional else {
                return nil
            }
            self = .optional(wrapped)
        } else if description.first == "[", description.last == "]" {
            guard let element = FieldType(description.dropFirst().dropLast(), depth: depth + 1) else { return nil }
            self = .array(element)
        } else {
            guard let scalar = Scalar(rawValue: String(description)) else { return nil }
            self = .scalar(scalar)
        }
    }
}
