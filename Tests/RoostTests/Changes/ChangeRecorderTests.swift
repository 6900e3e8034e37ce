// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostLMDB
import RoostTestSupport
import Testing

struct ChangeRecorderTests {
    @Entity struct Blob {
        var id: Int
        var bytes: String
    }

    @Entity struct Other {
        var id: Int
        var bytes: String
    }

    /// A recorder that is told of writes past the store.
    private struct Writer {
        var recorder = ChangeRecorder(keepsNewImages: true)

        mutating func write(_ state: StoredEntity, _ id: Int, from old: [UInt8]?, to new: [UInt8]?) throws {
            func with(_ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> Void) {
                guard let bytes else { return body(nil) }
                bytes.withUnsafeBytes { body($0) }
            }
            try id.withKey { key in
                with(old) { old in with(new) { new in recorder.record(state, key: key, old: old, new: new) } }
            }
        }
    }

    /// Every record that was ever written to one observed object used to be kept until the end: 12 GB and an abort.
    @Test func rewritingOneObjectKeepsItsFirstAndItsNewestRecord() throws {
        try Store.withTemporary(Blob.self) { store in
            let state = try store.state("Blob")
            var writer = Writer()
            let record = [UInt8](repeating: 1, count: 10_000)
            var before: [UInt8]? = record
            var greatest = 0
            for round in 0..<5_000 {
                // Growing, shrinking, and deleted now and then.
                let next = round % 7 == 6 ? nil : [UInt8](repeating: 2, count: 9_000 + round % 5 * 500)
                try writer.write(state, 1, from: before, to: next)
                before = next
                greatest = max(greatest, writer.recorder.byteCount)
            }
            #expect(greatest < 200_000)
        }
    }

    @Test func whatOneTransactionKeepsIsWithinTheByteLimit() throws {
        try Store.withTemporary(Blob.self, Other.self) { store in
            let states = [try store.state("Blob"), try store.state("Other")]
            var writer = Writer()
            let record = [UInt8](repeating: 1, count: 1 << 20)
            var greatest = 0
            for id in 0..<100 {
                try writer.write(states[id % 2], id, from: id % 3 == 0 ? nil : record, to: id % 5 == 0 ? nil : record)
                greatest = max(greatest, writer.recorder.byteCount)
            }
            #expect(greatest <= ChangeRecorder.byteLimit + 3 << 20)
            #expect(writer.recorder.byteCount <= ChangeRecorder.byteLimit)
        }
    }

    /// Keys used not to be counted.
    @Test func keysCountAsWell() throws {
        try Store.withTemporary(Blob.self) { store in
            let state = try store.state("Blob")
            var recorder = ChangeRecorder(keepsNewImages: false)
            let key = [UInt8](repeating: 7, count: 250)
            for number in 0..<1_000 {
                (key + withUnsafeBytes(of: number.bigEndian) { Array($0) }).withUnsafeBytes {
                    recorder.record(state, key: $0, old: nil, new: nil)
                }
            }
            #expect(recorder.byteCount > 258_000)
        }
    }

    /// The objects are still named when only their records take too much.
    @Test func recordsAreForgottenBeforeTheIDs() async throws {
        let place = TemporaryPlace()
        let store = try await Store.open(at: place.url, options: Store.fast, entities: Blob.self)
        let observer = FetchDescriptor<Blob>(predicate: #Predicate { $0.id == 1 }).makeObserver { $0.count }
        var values = observer.values(store).makeAsyncIterator()
        #expect(try await values.next() == 0)
        var commits = store.commits().makeAsyncIterator()
        let text = String(repeating: "x", count: 1 << 20)
        try await store.write { tx in
            for id in 1...70 { try tx.insert(Blob(id: id, bytes: text)) }
        }
        let changes = try #require(try await commits.next()?.changes(of: Blob.self))
        #expect(changes.isComplete && changes.inserted == Array(1...70))
        #expect(try await values.next() == 1)
    }

    /// What the rewriting keeps is what the objects were and are: compared with a plain dictionary.
    @Test func recordsBeforeAndAfterAreTheFirstAndTheLast() throws {
        var random = SeededGenerator()
        try Store.withTemporary(Blob.self) { store in
            let state = try store.state("Blob")
            var writer = Writer()
            var first: [Int: [UInt8]?] = [:]
            var now: [Int: [UInt8]] = [:]
            for id in 0..<10 where Bool.random(using: &random) { now[id] = random.bytes(100 + id) }
            for _ in 0..<3_000 {
                let id = Int.random(in: 0..<20, using: &random)
                let next =
                    Int.random(in: 0..<4, using: &random) == 0
                    ? nil : random.bytes(Int.random(in: 50..<400, using: &random))
                if next == nil && now[id] == nil { continue }
                if first[id] == nil { first[id] = .some(now[id]) }
                try writer.write(state, id, from: now[id], to: next)
                now[id] = next
            }
            let changes = try store.engine.environment.read { try writer.recorder.finish(in: $0) }
            let entity = try #require(changes.first)
            var seen: Set<Int> = []
            for index in entity.rows.indices {
                let id = try entity.rows[index].key.withUnsafeBytes { try Int.load(key: $0) }
                seen.insert(id)
                entity.withImages(of: index) { old, new in
                    #expect(old.map { Array($0) } == first[id] ?? nil)
                    #expect(new.map { Array($0) } == now[id])
                }
            }
            #expect(seen == Set(first.keys.filter { first[$0] ?? nil != nil || now[$0] != nil }))
            #expect(writer.recorder.byteCount == 0)
        }
    }
}
