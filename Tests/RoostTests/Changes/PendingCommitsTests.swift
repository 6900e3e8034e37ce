// SPDX-License-Identifier: Apache-2.0

import RoostTestSupport
import Testing

@testable import Roost

struct PendingCommitsTests {
    private typealias Kind = EntityChanges.Kind

    private func row(_ id: Int, _ kind: Kind, _ fields: [Int] = []) -> EntityChanges.Row {
        EntityChanges.Row(
            key: withUnsafeBytes(of: id.bigEndian) { Array($0) }, kind: kind, fields: ChangedFields(fields))
    }

    private func commit(_ sequence: UInt64, _ rows: [EntityChanges.Row], imageBytes: Int = 0) -> CommitRecord {
        var changes = EntityChanges(entity: 1, name: "a", rows: rows)
        if imageBytes > 0 {
            changes.images = RowImages(
                old: [UInt8](repeating: 1, count: imageBytes), ranges: rows.map { _ in (0..<1, nil) })
        }
        return CommitRecord(sequences: sequence...sequence, isForeign: false, changes: [changes])
    }

    private func merge(_ rows: [EntityChanges.Row]) -> [EntityChanges.Row] {
        var merged = MergedChanges(commit(1, [rows[0]]), limits: .init())
        for (index, row) in rows.dropFirst().enumerated() { merged.merge(commit(UInt64(index) + 2, [row])) }
        return merged.record.changes?.first?.rows ?? []
    }

    @Test func whatTwoChangesAreTogether() throws {
        let cases: [([EntityChanges.Row], Kind, ChangedFields, Bool)] = [
            ([row(1, .inserted), row(1, .updated, [2])], .inserted, .none, false),
            ([row(1, .inserted), row(1, .deleted)], .deleted, .none, true),
            ([row(1, .inserted), row(1, .deleted), row(1, .inserted)], .inserted, .none, false),
            ([row(1, .updated, [1]), row(1, .updated, [70])], .updated, ChangedFields([1, 70]), false),
            ([row(1, .updated, [1]), row(1, .deleted)], .deleted, .none, false),
            ([row(1, .deleted), row(1, .inserted)], .updated, .any, false),
            ([row(1, .deleted), row(1, .inserted), row(1, .deleted)], .deleted, .none, false),
            // Changed and changed back.
            ([row(1, .updated, [3]), row(1, .updated, [3])], .updated, ChangedFields([3]), false),
        ]
        for (rows, kind, fields, isTransient) in cases {
            let merged = merge(rows)
            #expect(merged.count == 1)
            let only = try #require(merged.first)
            #expect(only.kind == kind && only.fields == fields && only.isTransient == isTransient, "\(rows)")
        }
    }

    /// Random commits, merged as one or another number of them, against which objects there were before and after.
    @Test func mergedChangesAreTheDifferenceOfStartAndEnd() {
        var random = SeededGenerator()
        for _ in 0..<repetitions(30, thorough: 1_000) {
            let start = Set((0..<20).filter { _ in Bool.random(using: &random) })
            var now = start
            var changed: Set<Int> = []
            var pending = PendingCommits(limits: .init(commits: 5))
            for sequence in 1...UInt64(40) {
                var rows: [EntityChanges.Row] = []
                for id in Set((0..<3).map { _ in Int.random(in: 0..<20, using: &random) }) {
                    changed.insert(id)
                    if now.contains(id) {
                        let isDeleted = Bool.random(using: &random)
                        rows.append(isDeleted ? row(id, .deleted) : row(id, .updated, [1]))
                        if isDeleted { now.remove(id) }
                    } else {
                        rows.append(row(id, .inserted))
                        now.insert(id)
                    }
                }
                pending.append(commit(sequence, rows))
                #expect(pending.count <= 6)
            }
            // What was merged, and then the single ones into it.
            guard let first = pending.next() else { return }
            var all = MergedChanges(first, limits: .init())
            var last = first.sequences.upperBound
            while let next = pending.next() {
                #expect(next.sequences.lowerBound == last + 1)
                last = next.sequences.upperBound
                all.merge(next)
            }
            #expect(first.sequences.lowerBound == 1 && last == 40)
            let rows = all.record.changes?.first?.rows ?? []
            func ids(_ kind: Kind) -> Set<Int> {
                Set(
                    rows.filter { $0.kind == kind && !$0.isTransient }.compactMap { row in
                        (0..<20).first { id in self.row(id, .inserted).key == row.key }
                    })
            }
            #expect(ids(.inserted) == now.subtracting(start))
            #expect(ids(.deleted) == start.subtracting(now))
            #expect(ids(.updated) == changed.intersection(start).intersection(now))
            // One that came and went is still named.
            #expect(rows.count == changed.count)
        }
    }

    @Test func whatAnyoneMayHaveChangedStaysSo() {
        var merged = MergedChanges(commit(1, [row(1, .inserted)]), limits: .init())
        merged.merge(CommitRecord(sequences: 2...4, isForeign: true, changes: nil))
        merged.merge(commit(5, [row(2, .inserted)]))
        #expect(merged.record.changes == nil && merged.record.isForeign && merged.record.sequences == 1...5)
        #expect(merged.byteCount == 0)
        var incomplete = MergedChanges(commit(1, [row(1, .inserted)]), limits: .init(ids: 2))
        incomplete.merge(commit(2, [row(2, .inserted), row(1, .updated, [1])]))
        #expect(incomplete.record.changes?.first?.isComplete == true)
        incomplete.merge(commit(3, [row(3, .inserted)]))
        #expect(incomplete.record.changes?.first?.isComplete == false && incomplete.record.changes?.first?.rows == [])
        incomplete.merge(commit(4, [row(4, .inserted)]))
        #expect(incomplete.record.changes?.first?.isComplete == false)
    }

    /// An iterator that nobody read used to keep every record of every commit: 6 GB.
    @Test func whatWaitsIsWithinItsBytes() {
        var pending = PendingCommits(limits: .init(merged: .init(bytes: 1 << 20), imageBytes: 1 << 20))
        var greatest = (bytes: 0, images: 0)
        var next = 0
        for sequence in 1...UInt64(3_000) {
            let rows = (0..<50).map { offset in row(next + offset, .inserted) }
            next += 50
            pending.append(commit(sequence, rows, imageBytes: 100_000))
            greatest = (max(greatest.bytes, pending.byteCount), max(greatest.images, pending.imageBytes))
        }
        #expect(greatest.bytes <= 1 << 20 && greatest.images <= 1 << 20)
        #expect(greatest.images > 900_000)
        var sequence: UInt64 = 0
        while let commit = pending.next() {
            #expect(commit.sequences.lowerBound == sequence + 1)
            sequence = commit.sequences.upperBound
        }
        #expect(sequence == 3_000)
        #expect(pending.byteCount == 0 && pending.imageBytes == 0 && pending.isEmpty)
    }

    /// Merging costs as much as the commit has changes: 50,000 updates of one object are one row.
    @Test func manyCommitsOnOneObjectAreOneRow() {
        var pending = PendingCommits()
        for sequence in 1...UInt64(50_000) { pending.append(commit(sequence, [row(7, .updated, [Int(sequence % 3)])])) }
        #expect(pending.count == PendingCommits.commitLimit + 1)
        let merged = pending.next()
        #expect(merged?.sequences == 1...49_000)
        #expect(merged?.changes?.first?.rows == [row(7, .updated, [0, 1, 2])])
    }
}

extension EntityChanges.Row: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        left.key == right.key && left.kind == right.kind && left.fields == right.fields
            && left.isTransient == right.isTransient
    }
}
