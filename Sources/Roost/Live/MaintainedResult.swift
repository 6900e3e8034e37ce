// SPDX-License-Identifier: Apache-2.0

/// A result that is kept up to date from the changes: its state at one commit, to which the next is applied.
protocol MaintainedResult: Sendable {
    associatedtype Value: Sendable

    /// Whether applying a change runs code of the program's, such as an initialiser from a raw value. Then it is not
    /// done where commits are delivered.
    static var appliesProgramCode: Bool { get }
    /// Whether making a value does.
    static var takesProgramCode: Bool { get }

    /// Reads everything. What has been given to the consumer stays what the next value is compared with.
    mutating func load(_ context: SnapshotContext) throws

    /// Applies a commit's change of one object; `old` and `new` are its records before and after, nil where there was
    /// none.
    mutating func apply(
        _ key: [UInt8], old: UnsafeRawBufferPointer?, new: UnsafeRawBufferPointer?
    ) throws

    /// Applies what several commits did to an object together, of which the record now is all there is to be seen.
    /// With `isExact` the change is the one since the state's commit; else it may begin before. Returns false where
    /// that does not tell what the result is: then everything is to be read.
    mutating func catchUp(_ row: EntityChanges.Row, isExact: Bool, _ context: SnapshotContext) throws -> Bool

    /// Whether rows are missing that nobody has told of: those that come up behind a window's end.
    var isShort: Bool { get }
    /// Reads them, in a snapshot whose commits have all been applied.
    mutating func refill(_ context: SnapshotContext) throws

    /// Whether the next value may differ from the one that the consumer has.
    var isChanged: Bool { get }
    /// The value at a commit, unless the consumer has it.
    mutating func take(at sequence: UInt64) throws -> Value?

    /// What the consumer has is what it has of `earlier`.
    mutating func follow(_ earlier: Self)
}

extension MaintainedResult {
    var isShort: Bool { false }
    mutating func refill(_ context: SnapshotContext) throws {}
}
