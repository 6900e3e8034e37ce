// SPDX-License-Identifier: Apache-2.0

/// A stack for recursion as deep as what a caller handed in.
///
/// A predicate's operands are nested types, which only a recursion can go through; the caller's thread may have 512 KiB. Its
/// memory is reserved, and committed only as far as it is used.
enum LargeStack {
    static let bytes = 512 << 20

    /// Runs `body` on a thread with a large stack and waits for its end: some ten microseconds. What depends on the thread
    /// (a transaction, an actor's isolation) does not belong there.
    ///
    /// Throws what `body` throws, and `system` when there is no thread to be had.
    static func run<Result>(_ body: () throws -> Result) throws -> Result { try run(bytes, body) }

    /// The same for what is hardly ever deep: where the address space is short, a smaller stack does.
    static func runHardlyDeep<Result>(_ body: () throws -> Result) throws -> Result {
        for size in [bytes, bytes / 8] {
            do {
                return try run(size, body)
            } catch let error as StoreError where error.code == .system {}
        }
        return try run(bytes / 64, body)
    }

    private static func run<Result>(_ size: Int, _ body: () throws -> Result) throws -> Result {
        var outcome: Swift.Result<Result, any Error>?
        let code = NativeThread.run(stackBytes: size) { outcome = Swift.Result { try body() } }
        guard let outcome else {
            throw StoreError(
                .system, "A predicate this deep needs a thread of its own, which the system refuses.", cause: code)
        }
        return try outcome.get()
    }
}
