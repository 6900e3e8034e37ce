// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// With IDs of any length.
@Entity struct Sack {
    var id: String
    var weight: Int
    var place: Int
    static let indexes: [Index<Sack>] = [Index(\.weight)]

    /// Most IDs are about as long as one may be, so that few objects fill a MiB.
    static func number(_ number: Int) -> Sack {
        let id = number % 4 == 0 ? "\(number)" : String(repeating: "s", count: 240) + "\(number)"
        return Sack(id: id, weight: number * 7_919 % 10_007, place: number % 3)
    }
}

// A walk inside a write kept the IDs of all its objects in memory.
@Suite struct GatheredKeysTests {
    /// More IDs than a MiB holds.
    static let sacks = (0..<7_000).map { Sack.number($0) }

    private func withSacks(_ body: (Store, String) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/Test.roost"
            let store = try Store.open(path, Sack.self)
            try store.write { tx in try tx.insert(contentsOf: Self.sacks) }
            try body(store, path)
            try store.close()
        }
    }

    private static let byWeight = FetchDescriptor<Sack>(sortBy: [SortDescriptor(\.weight)])

    /// How many descriptors of this process lead to files without a name in `folder`.
    private func scratchFiles(in folder: String) -> Int {
        #if os(Linux)
            let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            return numbers.filter { number in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                return target.map { $0.hasPrefix(folder + "/") && $0.hasSuffix("(deleted)") } ?? false
            }.count
        #else
            return 0
        #endif
    }

    private let canSeeFiles = FileManager.default.fileExists(atPath: "/proc/self/fd")

    // MARK: The list

    private func keys(
        _ keys: [[UInt8]], width: Int, _ limits: GatheredKeys.Limits, in folder: String
    ) throws -> GatheredKeys {
        try GatheredKeys(width: width, limits: limits, directory: folder) { append in
            for key in keys { try key.withUnsafeBytes(append) }
        }
    }

    @Test func keysOfAnyLengthComeBackAsTheyWent() throws {
        var random = SeededGenerator()
        try withTemporaryFolder { folder in
            for _ in 0..<repetitions(60, thorough: 2_000) {
                let width = [0, 0, 1, 8, 16].randomElement(using: &random) ?? 0
                let limits = GatheredKeys.Limits(
                    block: Int.random(in: max(width, 34)...200, using: &random),
                    blocksInMemory: Int.random(in: 0...4, using: &random))
                let expected = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                    (0..<(width > 0 ? width : Int.random(in: 1...32, using: &random))).map { _ in
                        UInt8.random(in: 0...3, using: &random)
                    }
                }
                let gathered = try keys(expected, width: width, limits, in: folder)
                #expect(gathered.count == expected.count)
                // More than once, also by turns, and in pieces.
                var met: [[UInt8]] = []
                try gathered.forEach { met.append(Array($0)) }
                var positions = [GatheredKeys.Position(), GatheredKeys.Position()]
                var inPieces: [[[UInt8]]] = [[], []]
                while positions.contains(where: { $0.passed < gathered.count }) {
                    let which = Int.random(in: 0...1, using: &random)
                    var left = Int.random(in: 1...20, using: &random)
                    try gathered.forEach(from: &positions[which]) { key in
                        inPieces[which].append(Array(key))
                        left -= 1
                        return left > 0
                    }
                }
                #expect(met == expected && inPieces == [expected, expected], "seed \(random.seed)")
            }
        }
    }

    @Test func memoryStaysTheSameHoweverManyKeysThereAre() throws {
        try withTemporaryFolder { folder in
            var before = 0
            let gathered = try GatheredKeys(width: 8, directory: folder) { append in
                for id in 0..<1_000_000 { try id.withKey(append) }
            }
            #expect(gathered.bytesInMemory <= 1 << 20 + 64 << 10)
            #expect(gathered.bytesInFile > 7_900_000 && gathered.bytesInFile < 8_000_000)
            try gathered.forEach { key in
                let id = try Int.load(key: key)
                if id != before { Issue.record("\(id) in the place of \(before)") }
                before += 1
            }
            #expect(before == 1_000_000)
            // As many as one MiB holds need no file.
            let few = try GatheredKeys(width: 8, directory: folder + "/nowhere") { append in
                for id in 0..<131_072 { try id.withKey(append) }
            }
            #expect(few.count == 131_072 && few.bytesInFile == 0 && few.bytesInMemory <= 1 << 20 + 128 << 10)
        }
    }

    @Test func aDirectoryThatTakesNoFileIsATypedError() throws {
        let error = failure {
            try GatheredKeys(width: 8, directory: "/nowhere at all") { append in
                for id in 0..<200_000 { try id.withKey(append) }
            }
        }
        #expect(code(error) == .notFound || code(error) == .permissionDenied, "\(error as Any)")
    }

    // MARK: Walks

    @Test func aWalkBeyondTheBudgetMeetsTheObjectsOfItsStart() throws {
        for direction in [SortOrder.forward, .reverse] {
            try withSacks { store, path in
                let request = FetchDescriptor<Sack>(sortBy: [SortDescriptor(\.weight, order: direction)])
                let ahead = direction == .forward ? 20_000 : -1
                let expected = try store.ids(request)
                var met: [String] = []
                try store.write { tx in
                    try tx.forEach(request) { sack in
                        met.append(sack.id)
                        if met.count == 1, canSeeFiles { #expect(scratchFiles(in: path) == 1) }
                        // Ahead of the walk, behind it, and away.
                        switch met.count % 3 {
                        case 0: try tx.update(Sack.self, id: sack.id) { $0.weight = ahead }
                        case 1: try tx.delete(Sack.self, id: sack.id)
                        default: try tx.upsert(Sack(id: "new " + sack.id.suffix(20), weight: sack.weight, place: 0))
                        }
                    }
                }
                #expect(met == expected)
                #expect(scratchFiles(in: path) == 0)
                #expect(
                    try Set(FileManager.default.contentsOfDirectory(atPath: path)).isSubset(of: [
                        "data.mdb", "lock.mdb",
                    ]))
            }
        }
    }

    @Test func noFileIsLeftOfWalksThatEndEarly() throws {
        struct Mine: Error {}
        try withSacks { store, path in
            try store.write { tx in
                for _ in 0..<50 {
                    #expect(failure { try tx.forEach(Self.byWeight) { _ in throw Mine() } } is Mine)
                }
                var pairs = 0
                try tx.forEach(Self.byWeight) { _ in
                    if pairs >= 3 * Self.sacks.count { return }
                    try tx.forEach(Self.byWeight) { _ in pairs += 1 }
                    if canSeeFiles { #expect(scratchFiles(in: path) == 1) }
                }
                #expect(pairs == 3 * Self.sacks.count)
            }
            #expect(scratchFiles(in: path) == 0)
            #expect(try store.count(FetchDescriptor<Sack>()) == Self.sacks.count)
        }
    }

    @Test func aDeletionBeyondTheBudgetRemovesAll() throws {
        try withSacks { store, path in
            let heavy = FetchDescriptor<Sack>(
                predicate: #Predicate { $0.weight >= 100 }, sortBy: [SortDescriptor(\.place)])
            let count = try store.count(heavy)
            #expect(try store.write { tx in try tx.delete(heavy) } == count)
            #expect(try store.count(FetchDescriptor<Sack>()) == Self.sacks.count - count)
            #expect(try store.count(heavy) == 0 && scratchFiles(in: path) == 0)
        }
    }

    @Test func chunksOfASortedRequestBeyondTheBudget() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/Test.roost"
            let store = try await Task { try Store.open(path, Sack.self) }.value
            try await store.write { tx in try tx.insert(contentsOf: Self.sacks) }
            let request = FetchDescriptor<Sack>(sortBy: [SortDescriptor(\.place), SortDescriptor(\.weight)])
            let expected = try await store.ids(request)
            var met: [String] = []
            var iterator = store.chunks(request, size: 700).makeAsyncIterator()
            met += try await iterator.next()?.map(\.id) ?? []
            if canSeeFiles { #expect(scratchFiles(in: path) == 1) }
            // A copy of the iterator goes its own way.
            var copy = iterator
            #expect(try await copy.next()?.map(\.id) == Array(expected[700..<1_400]))
            while let chunk = try await iterator.next() { met += chunk.map(\.id) }
            #expect(met == expected)
            #expect(try await copy.next()?.map(\.id) == Array(expected[1_400..<2_100]))
            try store.close()
        }
    }

    /// A read-only store may lie where nothing can be made.
    @Test func chunksOfAReadOnlyStoreMakeNoFileInItsDirectory() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/Test.roost"
            try await Task {
                let store = try Store.open(path, Sack.self)
                try store.write { (tx) throws in try tx.insert(contentsOf: Self.sacks) }
                try store.close()
            }.value
            let store = try await Task {
                try Store.open(path, options: .init(isReadOnly: true), Sack.self)
            }.value
            var met = 0
            let request = FetchDescriptor<Sack>(sortBy: [SortDescriptor(\.place)])
            for try await chunk in store.chunks(request, size: 2_000) {
                met += chunk.count
                #expect(scratchFiles(in: path) == 0)
            }
            #expect(met == Self.sacks.count)
            try store.close()
        }
    }
}
