// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Seconds since the reference date (2001-01-01T00:00:00Z), as the Double that Foundation keeps: nothing is rounded.
@_documentation(visibility: internal)
extension Date: FieldValue {
    public static var fieldType: FieldType { .scalar(.date) }
    @inlinable public static var storedWidth: Int { 8 }

    @inlinable
    public func store(to bytes: UnsafeMutableRawPointer) {
        timeIntervalSinceReferenceDate.bitPattern.store(to: bytes)
    }

    @inlinable
    public static func load(_ bytes: UnsafeRawBufferPointer) throws(RecordFailure) -> Date {
        Date(timeIntervalSinceReferenceDate: try Double.load(bytes))
    }

    public var storedValue: StoredValue { .double(timeIntervalSinceReferenceDate) }
}

extension Date: ScalarCodec {
    static var keyWidth: Int { Double.keyWidth }

    @inline(__always)
    static func order(stored bytes: UnsafeRawBufferPointer, _ value: StoredValue) throws(RecordFailure) -> StoredOrder {
        try Double.order(stored: bytes, value)
    }

    static func appendKey(stored bytes: UnsafeRawBufferPointer, to key: inout KeyBytes, limit: Int) -> Bool {
        Double.appendKey(stored: bytes, to: &key, limit: limit)
    }

    static func parse(_ text: String) throws(ScalarMismatch) -> Date {
        guard let seconds = DateText.seconds(text) else {
            throw ScalarMismatch(expected: "a date such as 2024-05-31 or 2024-05-31T18:30:00.25Z")
        }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    var printed: String { DateText.text(timeIntervalSinceReferenceDate) }
}
