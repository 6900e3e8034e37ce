// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A field's value without its Swift type: what predicates compare and what the tool prints.
@_documentation(visibility: internal)
public enum StoredValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    /// Float, Double, and Date as seconds since its reference date.
    case double(Double)
    /// UTF-8 in NFC form.
    case text([UInt8])
    case bytes([UInt8])
    /// 16 bytes.
    case uuid([UInt8])
    case list([StoredValue])
}

extension StoredValue {
    /// Whether it equals nothing, not even itself, and is neither above nor below anything. Its key stands above all.
    var isNaN: Bool {
        if case .double(let number) = self { return number.isNaN }
        return false
    }

    /// Above it stand only keys of values that are above nothing; nil where the greatest key is the greatest value's.
    var greatestOrdered: StoredValue? {
        if case .double = self { return .double(.infinity) }
        return nil
    }
}

/// The order of stored values of one kind, equal to the order of their key bytes: nil first, NaN last, text by its NFC
/// bytes. The second result says whether the two are equal by Swift's `==`, which for NaN is false.
enum StoredOrder {
    case less, equal, greater
    /// At least one side is NaN: nothing but `!=` holds.
    case unordered
}

extension StoredOrder {
    @inline(__always)
    static func of<T: Comparable>(_ lhs: T, _ rhs: T) -> StoredOrder {
        lhs < rhs ? .less : lhs == rhs ? .equal : .greater
    }

    @inline(__always)
    static func of(_ lhs: Double, _ rhs: Double) -> StoredOrder {
        lhs < rhs ? .less : lhs == rhs ? .equal : lhs > rhs ? .greater : .unordered
    }

    /// Compares two values of one kind.
    static func of(_ lhs: StoredValue, _ rhs: StoredValue) -> StoredOrder {
        switch (lhs, rhs) {
        case (.int(let a), .int(let b)): of(a, b)
        case (.uint(let a), .uint(let b)): of(a, b)
        case (.double(let a), .double(let b)): of(a, b)
        case (.bool(let a), .bool(let b)): of(a ? 1 : 0, b ? 1 : 0)
        case (.text(let a), .text(let b)), (.bytes(let a), .bytes(let b)), (.uuid(let a), .uuid(let b)):
            a.withUnsafeBytes { a in b.withUnsafeBytes { of(a, $0) } }
        default: .unordered
        }
    }

    @inline(__always)
    static func of(_ lhs: UnsafeRawBufferPointer, _ rhs: UnsafeRawBufferPointer) -> StoredOrder {
        let shared = min(lhs.count, rhs.count)
        if shared > 0, let left = lhs.baseAddress, let right = rhs.baseAddress {
            let order = memcmp(left, right, shared)
            if order != 0 { return order < 0 ? .less : .greater }
        }
        return of(lhs.count, rhs.count)
    }
}
