// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import RoostLMDB

/// Many look-ups at once, by our own reading of the pages, give what LMDB gives; and damaged pages an error. Hazard 42.
@Suite struct PageTreeTests {
    /// What a database of one test holds: how long its keys and values are.
    enum Shape: String, CaseIterable, CustomTestStringConvertible {
        case words, texts, longKeys, largeValues, empty
        var testDescription: String { rawValue }

        func key(_ random: inout SeededGenerator) -> [UInt8] {
            switch self {
            // Close together, so that absent keys fall between present ones.
            case .words, .largeValues:
                withUnsafeBytes(of: UInt64.random(in: 0..<10_000, using: &random).bigEndian, Array.init)
            case .texts: random.bytes(Int.random(in: 1...12, using: &random)).map { $0 & 3 }
            case .longKeys:
                random.bytes(Int.random(in: 1...2, using: &random))
                    + [UInt8](repeating: 7, count: Int.random(in: 0...509, using: &random))
            case .empty: [1]
            }
        }

        func value(_ random: inout SeededGenerator) -> [UInt8] {
            random.bytes(
                Int.random(
                    in: self == .largeValues && Bool.random(using: &random) ? 2_000...20_000 : 0...200, using: &random))
        }

        var count: Int {
            switch self {
            case .words: 6_000
            case .texts, .longKeys: 2_000
            case .largeValues: 400
            case .empty: 0
            }
        }
    }

    private func with(
        _ shape: Shape, _ random: inout SeededGenerator,
        _ body: (Environment, Database, inout SeededGenerator) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let database = try environment.databases("1", "2")[0]
                try environment.write { transaction in
                    for _ in 0..<shape.count { try transaction.put(database, shape.key(&random), shape.value(&random)) }
                }
                try body(environment, database, &random)
            }
        }
    }

    private func verify(
        _ environment: Environment, _ database: Database, _ shape: Shape, _ random: inout SeededGenerator
    ) throws {
        try environment.read { transaction in
            var keys = try transaction.entries(database).map(\.key).shuffled(using: &random).prefix(300) + []
            for _ in 0..<150 { keys.append(shape.key(&random)) }
            keys.shuffle(using: &random)
            let tree = try transaction.pageTree(database)
            #expect(isSwitchedOff || tree != nil)
            var flat: [UInt8] = []
            var places: [Range<Int>] = []
            for key in keys {
                places.append(flat.count..<flat.count + key.count)
                flat += key
            }
            let before = transaction.counters.recordsRead
            var found = 0
            try flat.withUnsafeBytes { bytes in
                let buffers = places.map { UnsafeRawBufferPointer(rebasing: bytes[$0]) }
                let none = UnsafeRawBufferPointer(start: nil, count: 0)
                var values = [UnsafeRawBufferPointer](repeating: none, count: keys.count)
                try buffers.withUnsafeBufferPointer { keys in
                    try values.withUnsafeMutableBufferPointer { values in
                        try transaction.lookup.get(database, keys, try #require(values.baseAddress))
                    }
                }
                let counted = transaction.counters.recordsRead - before
                for (key, value) in zip(buffers, values) {
                    let expected = try transaction.get(database, key)
                    if expected != nil { found += 1 }
                    #expect(expected.map { Array($0) } == (value.baseAddress == nil ? nil : Array(value)))
                    let single = try tree?.find(key)
                    #expect(
                        tree == nil || expected?.baseAddress == single?.baseAddress && expected?.count == single?.count)
                }
                #expect(counted == found)
            }
        }
    }

    private var isSwitchedOff: Bool { ProcessInfo.processInfo.environment["ROOST_PAGE_READER"] == "off" }

    @Test(arguments: Shape.allCases) func findsWhatLMDBFinds(_ shape: Shape) throws {
        var random = SeededGenerator()
        try with(shape, &random) { environment, database, random in
            try verify(environment, database, shape, &random)
            for _ in 0..<5 {
                try environment.write { transaction in
                    for _ in 0..<(shape.count / 10) {
                        try transaction.put(database, shape.key(&random), shape.value(&random))
                    }
                    for _ in 0..<(shape.count / 10) { try transaction.delete(database, shape.key(&random)) }
                }
                try verify(environment, database, shape, &random)
            }
        }
    }

    /// A reader keeps its trees from one use to the next; a commit between them makes new ones.
    @Test func treeOfAnOlderSnapshotIsNotUsedAgain() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { environment in
                let database = try environment.databases("1")[0]
                for round in 0..<300 {
                    try environment.put(database, "key \(round % 7)", "value \(round)")
                    try environment.read { transaction in
                        try Array("key \(round % 7)".utf8).withUnsafeBytes { key in
                            var value = UnsafeRawBufferPointer(start: nil, count: 0)
                            try withUnsafePointer(to: key) {
                                try transaction.lookup.get(database, UnsafeBufferPointer(start: $0, count: 1), &value)
                            }
                            #expect(String(decoding: value, as: UTF8.self) == "value \(round)")
                        }
                    }
                }
            }
        }
    }

    /// The file's pages in memory of the test's own, between pages that cannot be read, with bytes changed at random.
    @Test(arguments: [Shape.words, .texts, .longKeys, .largeValues]) func damagedPagesAreAnErrorAndNeverATrap(
        _ shape: Shape
    ) throws {
        if isSwitchedOff { return }
        var random = SeededGenerator()
        try with(shape, &random) { environment, database, random in
            try environment.read { transaction in
                let tree = try #require(try transaction.pageTree(database))
                let size = Int(tree.pageLimit) * tree.pageSize
                let fence = tree.pageSize
                let area = try #require(
                    mmap(nil, size + 2 * fence, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
                defer { munmap(area, size + 2 * fence) }
                mprotect(area, fence, PROT_NONE)
                mprotect(area + fence + size, fence, PROT_NONE)
                let copy = area + fence
                let pages = UnsafeRawBufferPointer(start: copy, count: size)
                let keys = try transaction.entries(database).map(\.key)
                var (errors, answers) = (0, 0)
                for _ in 0..<repetitions(30, thorough: 3_000) {
                    copy.copyMemory(from: tree.base, byteCount: size)
                    for _ in 0..<Int.random(in: 1...60, using: &random) {
                        let page = Int.random(in: 2..<Int(tree.pageLimit), using: &random)
                        // Mostly where it hurts: header, offsets, the nodes' headers at the end.
                        let offset =
                            Bool.random(using: &random)
                            ? Int.random(in: 0..<64, using: &random) : Int.random(in: 0..<tree.pageSize, using: &random)
                        copy.storeBytes(
                            of: Bool.random(using: &random) ? .random(in: 0...255, using: &random) : 0xFF,
                            toByteOffset: page * tree.pageSize + offset, as: UInt8.self)
                    }
                    let damaged = PageTree(
                        base: UnsafeRawPointer(copy), pageSize: tree.pageSize, pageLimit: tree.pageLimit,
                        root: tree.root, depth: tree.depth)
                    walk(damaged, keys.randomElement(using: &random) ?? [1])
                    for _ in 0..<40 {
                        let some = (0..<Int.random(in: 1...PageTree.groupSize, using: &random)).map { _ in
                            keys.randomElement(using: &random) ?? [1]
                        }
                        let flat = some.flatMap { $0 }
                        try flat.withUnsafeBytes { bytes in
                            var start = 0
                            let buffers = some.map { key in
                                defer { start += key.count }
                                return UnsafeRawBufferPointer(rebasing: bytes[start..<start + key.count])
                            }
                            var values = [UnsafeRawBufferPointer](repeating: pages, count: buffers.count)
                            do {
                                _ = try buffers.withUnsafeBufferPointer { keys in
                                    try values.withUnsafeMutableBufferPointer {
                                        try damaged.find(keys, try #require($0.baseAddress))
                                    }
                                }
                                let single = try damaged.find(buffers[0])
                                for value in values + [single].compactMap({ $0 }) {
                                    guard let start = value.baseAddress else { continue }
                                    #expect(start >= copy && start + value.count <= copy + size)
                                }
                                answers += 1
                            } catch is LMDBError {
                                errors += 1
                            }
                        }
                    }
                }
                // A damage that is never noticed, or always, would say that the test looks at the wrong place.
                #expect(errors > 0 && answers > 0)
            }
        }
    }
}

extension PageTreeTests {
    /// Every walk over damaged pages ends, and stays within them.
    private func walk(_ tree: PageTree, _ bound: [UInt8]) {
        var path = PagePath(tree)
        defer { path.deallocate() }
        let most = Int(tree.pageLimit) * tree.pageSize / 2
        for isReversed in [false, true] {
            var entries = 0
            do {
                var isValid = try bound.withUnsafeBytes { bound in
                    _ = try path.seek(atLeast: bound)
                    _ = try path.seek(below: bound)
                    return isReversed ? try path.last() : try path.first()
                }
                while isValid {
                    #expect(path.value.count >= 0 && path.value.first.map { _ in true } ?? true)
                    entries += 1
                    if entries > most { break }
                    isValid = try isReversed ? path.previous() : path.next()
                }
            } catch {}
            #expect(entries <= most)
        }
    }

    /// A cursor of a read, which walks the pages, beside one of a write, which is LMDB's.
    @Test(arguments: Shape.allCases) func cursorMovesAsLMDBs(_ shape: Shape) throws {
        var random = SeededGenerator()
        try with(shape, &random) { environment, database, random in
            let entries = try environment.write { try $0.entries(database) }
            try environment.read { transaction in
                let found = try transaction.entries(database)
                #expect(found.map(\.key) == entries.map(\.key))
                #expect(found.map(\.value) == entries.map(\.value))
                var cursor = try transaction.cursor(database)
                var backwards: [[UInt8]] = []
                var isValid = try cursor.last()
                while isValid {
                    backwards.append(Array(cursor.key))
                    isValid = try cursor.previous()
                }
                #expect(backwards == entries.map(\.key).reversed())
                for _ in 0..<150 {
                    let isPresent = Bool.random(using: &random)
                    let bound = isPresent ? entries.randomElement(using: &random)?.key ?? [9] : shape.key(&random)
                    func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.lexicographicallyPrecedes(b) }
                    let above = entries.first { !precedes($0.key, bound) }
                    let below = entries.last { precedes($0.key, bound) }
                    try bound.withUnsafeBytes { bound in
                        #expect(try (cursor.seek(atLeast: bound) ? Array(cursor.key) : nil) == above?.key)
                        if above != nil, try cursor.previous() { #expect(Array(cursor.key) == below?.key) }
                        #expect(try (cursor.seek(below: bound) ? Array(cursor.key) : nil) == below?.key)
                        if below != nil, try cursor.next() { #expect(Array(cursor.key) == above?.key) }
                        let isThere = above.map { $0.key.elementsEqual(bound) } ?? false
                        #expect(try cursor.seek(exactly: bound) == isThere)
                    }
                }
            }
        }
    }
}
