// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// For loops that read no rows, such as a sort in memory: looks at every so many steps whether the read is still wanted.
/// Cursors and look-ups do so by themselves.
///
/// ```swift
/// var cancellation = CancellationCheck()
/// try rows.sort { a, b in
///     try cancellation.step()
///     return a.precedes(b)
/// }
/// ```
struct CancellationCheck {
    private var steps: UInt = 0
    /// Steps between two looks: a thousand comparisons take less than a millisecond.
    private static let interval: UInt = 1_024

    /// Throws `CancellationError` when the read's task was cancelled. Never inside a write.
    @inline(__always)
    mutating func step() throws(CancellationError) {
        steps &+= 1
        if steps & (Self.interval - 1) == 0 { try Self.now() }
    }

    /// Looks at once; for steps that take long.
    @inline(never)
    static func now() throws(CancellationError) {
        if Cancellation.isRequested { throw CancellationError() }
    }
}
