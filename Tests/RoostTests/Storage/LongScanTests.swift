// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// Hazard 10: a scan in chunks beside a writer pins no old pages, however long it takes.
@Suite struct LongScanTests {
    @Test func aScanInChunksBesideAWriterKeepsTheFileBounded() async throws {
        var random = SeededGenerator()
        let count = repetitions(20_000, thorough: 1_000_000)
        try await Store.withTemporary(Storage.Note.self) { (store) async throws in
            for start in stride(from: 0, to: count, by: 10_000) {
                try await store.write { tx in
                    for id in start..<start + 10_000 { try tx.insert(Storage.Note(id: id, text: "before")) }
                }
            }
            let before = try #require(store.engine.environment.sizes).extent
            var next = 0
            for try await chunk in store.chunks(FetchDescriptor<Storage.Note>(), size: 100) {
                #expect(chunk.map(\.id) == Array(next..<next + chunk.count))
                next += chunk.count
                // Each commit rewrites some twenty pages, and splits none: the records keep their lengths.
                let changed = (0..<20).map { _ in Int.random(in: 0..<count, using: &random) }
                try await store.write { tx in
                    for id in changed { try tx.upsert(Storage.Note(id: id, text: "behind")) }
                }
            }
            #expect(next == count)
            let after = try #require(store.engine.environment.sizes).extent
            // The history keeps each commit, in less than 2 KiB. A snapshot held all the time would keep some 100.
            let growth = after - before
            #expect(growth < (2 << 20) + (count / 100) * 2_048, "the file grew by \(growth) bytes")
        }
    }
}
