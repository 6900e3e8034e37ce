// SPDX-License-Identifier: Apache-2.0

import RoostTestSupport
import Testing

@testable import Roost

struct ChangedFieldsTests {
    private func bytes(_ fields: ChangedFields) -> [UInt8] { (0..<fields.byteCount).map { fields.byte($0) } }

    @Test func eachPositionIsAloneAndComesBackFromItsBytes() throws {
        for position in [0, 1, 7, 8, 62, 63, 64, 65, 127, 128, 200, 1_000] {
            let fields = ChangedFields([position])
            #expect((0..<1_100).filter(fields.contains) == [position])
            #expect(fields.byteCount == position / 8 + 1)
            #expect(bytes(fields).withUnsafeBytes { ChangedFields(bytes: $0) } == fields)
        }
    }

    @Test func unionHoldsBoth() {
        var random = SeededGenerator()
        for _ in 0..<200 {
            func some() -> Set<Int> {
                Set((0..<Int.random(in: 0...6, using: &random)).map { _ in Int.random(in: 0..<300, using: &random) })
            }
            let (left, right) = (some(), some())
            var union = ChangedFields(left)
            union.formUnion(ChangedFields(right))
            #expect(union == ChangedFields(left.union(right)))
            #expect(Set((0..<320).filter(union.contains)) == left.union(right))
            union.formUnion(.any)
            #expect((0..<320).allSatisfy(union.contains) && union.byteCount == 0)
        }
    }

    @Test func bytesThatWereNeverWrittenAreRefused() {
        #expect([UInt8]([1, 0]).withUnsafeBytes { ChangedFields(bytes: $0) } == nil)
        #expect([UInt8]([0]).withUnsafeBytes { ChangedFields(bytes: $0) } == nil)
        #expect([UInt8]([]).withUnsafeBytes { ChangedFields(bytes: $0) } == .any)
    }

    @Entity struct Wide {
        var id: Int
        var f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20: Int
        var f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31, f32, f33, f34, f35, f36, f37, f38, f39, f40: Int
        var f41, f42, f43, f44, f45, f46, f47, f48, f49, f50, f51, f52, f53, f54, f55, f56, f57, f58, f59, f60: Int
        var f61, f62, f63, f64, f65, f66, f67, f68, f69: Int

        init(id: Int) {
            self.id = id
            (f1, f2, f3, f4, f5, f6, f7, f8, f9, f10) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            (f11, f12, f13, f14, f15, f16, f17, f18, f19, f20) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            (f21, f22, f23, f24, f25, f26, f27, f28, f29, f30) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            (f31, f32, f33, f34, f35, f36, f37, f38, f39, f40) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            (f41, f42, f43, f44, f45, f46, f47, f48, f49, f50) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            (f51, f52, f53, f54, f55, f56, f57, f58, f59, f60) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            (f61, f62, f63, f64, f65, f66, f67, f68, f69) = (0, 0, 0, 0, 0, 0, 0, 0, 0)
        }
    }

    /// A change of f65 alone used to be told as one of f63 to f69.
    @Test func fieldsBeyondTheSixtyThirdAreToldApart() async throws {
        let place = TemporaryPlace()
        let store = try await Store.open(at: place.url, options: Store.fast, entities: Wide.self)
        try await store.write { tx in try tx.insert(Wide(id: 1)) }
        var commits = store.commits().makeAsyncIterator()
        let changes: [(String, WritableKeyPath<Wide, Int> & Sendable)] = [
            ("f1", \.f1), ("f62", \.f62), ("f63", \.f63), ("f64", \.f64), ("f65", \.f65), ("f69", \.f69),
        ]
        for (name, field) in changes {
            try await store.write { tx in _ = try tx.update(Wide.self, id: 1) { $0[keyPath: field] += 1 } }
            let commit = try #require(await commits.next())
            #expect(try commit.changes(of: Wide.self)?.updatedFields == [1: [name]])
            let entry = try #require(try store.historyEntry(commit.sequence))
            let position = try #require(try store.binding(of: Wide.self).entity.layout.position(named: name))
            #expect(entry.entities[0].rows?.map(\.fields) == [ChangedFields([position])])
        }
    }
}
