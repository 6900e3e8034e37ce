// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why bytes are not a record, or not a value of the type asked for.
///
/// A single byte, so that decoding can throw it without allocating; the store wraps it into a `StoreError` that names
/// entity, ID and field.
public enum RecordFailure: UInt8, Error, Sendable {
    /// The record is shorter than its layout says.
    case truncated
    /// The record is of another layout than the one expected.
    case otherLayout
    /// The offsets of the variable part do not ascend, or leave the record.
    case badOffsets
    /// A null bit on a field that is never null.
    case unexpectedNull
    /// Text that is not UTF-8.
    case invalidText
    /// A raw value that the type does not know, or a byte that is not a Bool.
    case invalidValue

    var explanation: String {
        switch self {
        case .truncated: "it is shorter than its layout"
        case .otherLayout: "it has a layout that this program does not know"
        case .badOffsets: "its offsets are out of bounds"
        case .unexpectedNull: "a field that is never null is null"
        case .invalidText: "a text is not UTF-8"
        case .invalidValue: "it holds a value that the field's type does not know"
        }
    }
}

extension RecordFailure: CustomStringConvertible, LocalizedError {
    /// What is wrong with the record, in one line.
    public var description: String { "The record cannot be read: \(explanation)." }
    public var errorDescription: String? { description }
}
