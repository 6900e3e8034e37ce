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
