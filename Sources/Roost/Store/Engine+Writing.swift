// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

extension Engine {
    // MARK: Writing

    /// Runs `body` in the store's one write transaction, on the writer's queue, while the caller waits.
    func write<Result>(_ body: (WriteSession) throws -> Result) throws -> Result {
        guard !environment.options.isReadOnly else { throw StoreError.readOnly }
        guard !environment.isWritingOnThisThread else { throw StoreError.nestedWrite }
        return try writer.sync { try perform(body) }
    }

    /// Commits `body` and publishes the commit. On the writer's queue.
    func perform<Result>(_ body: (WriteSession) throws -> Result) throws -> Result {
        do {
            var commit: (record: CommitRecord, snapshot: Int)?
            let result = try environment.write { transaction in
                transaction.isHeldToLimit = false
                try schema.verify(transaction)
                let last = try main.sequence(in: transaction).sequence
                let session = WriteSession(
                    engine: self, transaction: transaction, keepsNewImages: bus.wantsImages)
                let result = try body(session)
                let changes = try session.finish()
                if !changes.isEmpty {
                    bus.ownCommitBegins(last + 1)
                    let stamp = CommitStamp(nonce: .random(in: .min ... .max), time: Date())
                    try main.setSequence(last + 1, nonce: stamp.nonce, in: transaction)
                    var size = try main.count(.historySize, in: transaction)
                    try history.append(
                        sequence: last + 1, stamp: stamp, origin: origin, changes: changes, size: &size,
                        in: transaction)
                    try main.setCount(.historySize, size, in: transaction)
                    commit = (
                        CommitRecord(
                            sequences: (last + 1)...(last + 1), isForeign: false, changes: changes, stamp: stamp),
                        transaction.snapshotID
                    )
                }
                return result
            }
            if let commit {
                bus.ownCommitCompleted(commit.record, inSnapshot: commit.snapshot)
            } else {
                bus.ownWriteEndsWithoutCommit()
            }
            reportLongReader()
            return result
        } catch {
            bus.ownWriteEndsWithoutCommit()
            throw StoreError.wrapping(error, engine: self)
        }
    }

    /// In debug builds, a reader that has lived through a commit for longer than this is reported, with where it began
    /// (hazard 10): while it lives the file can only grow.
    static let longReaderMilliseconds: UInt64 = 10_000

    private func reportLongReader() {
        #if DEBUG
            if let oldest = environment.oldestReader, oldest.age > Self.longReaderMilliseconds {
                let place = oldest.origin.map { " It began at \($0.file):\($0.line)." } ?? ""
                Diagnostics.report(
                    .longReader, "A read transaction has been open for \(oldest.age) ms.\(place)")
            }
        #endif
    }
}
