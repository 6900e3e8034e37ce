// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Roost
import RoostTestSupport
import Synchronization

/// What several processes write and observe.
@Entity struct Reading: Equatable {
    var id: Int
    var group: Int
    var value: Int
    var note: String
    static let indexes: [Index<Reading>] = [Index(\.group, \.value)]
}

/// One process of several that write one store and follow it with live values of every kind, each of which must be what a fetch
/// gives once nobody writes any more.
///
/// It reads lines: `write COUNT SEED` makes so many commits and prints `w` for each, then `written`; `settle` waits until every
/// live value is right and prints `settled` with the state's hash, or `stuck` with what is not.
final class Convergence: Sendable {
    private let store: Store
    private let checks: [Check]
    private let arrived = DispatchSemaphore(value: 0)

    /// A live value's newest state, and what it should be.
    private final class Check: Sendable {
        let name: String
        let difference: @Sendable () throws -> String?
        init(_ name: String, _ difference: @escaping @Sendable () throws -> String?) {
            self.name = name
            self.difference = difference
        }
    }

    private static let groups = 3
    private static let ids = 1...120

    init(_ path: String) throws {
        store = try Store.open(
            at: URL(fileURLWithPath: path), options: .init(durability: .unsafe), entities: Reading.self)
        let (store, arrived) = (store, arrived)
        var checks: [Check] = []

        func follow<Values: AsyncSequence & Sendable>(
            _ name: String, _ values: Values, fresh: @escaping @Sendable () throws -> Values.Element
        ) where Values.Element: Equatable & Sendable {
            let newest = Newest<Values.Element>()
            Task.detached {
                do {
                    for try await value in values {
                        newest.value.withLock { $0 = value }
                        arrived.signal()
                    }
                } catch {
                    newest.failure.withLock { $0 = "\(error)" }
                    arrived.signal()
                }
            }
            checks.append(
                Check(name) {
                    if let failure = newest.failure.withLock({ $0 }) { return failure }
                    let (live, right) = (newest.value.withLock { $0 }, try fresh())
                    return live == right ? nil : "\(String(describing: live)) in place of \(right)"
                })
        }

        for group in 0..<Self.groups {
            let all = FetchDescriptor<Reading>(predicate: #Predicate { $0.group == group })
            follow("objects of \(group)", all.makeObserver { $0 }.values(store)) { try store.fetch(all) }
            follow("count of \(group)", all.makeCountObserver().values(store)) { try store.count(all) }
            var top = all
            top.sortBy = [SortDescriptor(\.value, order: .reverse)]
            top.fetchLimit = 5
            let window = top
            follow("top of \(group)", window.makeObserver { $0.map(\.id) }.values(store)) {
                try store.fetch(window).map(\.id)
            }
            follow("live top of \(group)", Differences(window.makeLiveObserver().values(store))) {
                try store.fetch(window)
            }
        }
        let everything = FetchDescriptor<Reading>()
        follow("counts by group", everything.makeCountsObserver(by: \.group).values(store)) {
            try store.counts(everything, by: \.group)
        }
        follow("sum of values", everything.makeSumObserver(of: \.value).values(store)) {
            try store.sum(everything, of: \.value)
        }
        let noted = FetchDescriptor<Reading>(predicate: #Predicate { $0.note == "odd" && $0.value > 50 })
        follow("by a field without an index", noted.makeObserver { $0.map(\.id) }.values(store)) {
            try store.fetch(noted).map(\.id)
        }
        let resolver = try store.resolver(for: Reading.self)
        let asked = Array(Self.ids.reversed().filter { $0 % 3 == 0 })
        resolver.resolve(asked)
        follow("resolver", resolver.values.map { Array($0) }) { try store.get(Reading.self, ids: asked) }
        let members = Members(store, arrived)
        checks.append(Check("commits") { try members.difference() })
        self.checks = checks
    }

    /// What the differences make of a live result, one after the other.
    private struct Differences: AsyncSequence, Sendable {
        let values: LiveObserver<Reading, LiveResult<Reading>>.Values

        init(_ values: LiveObserver<Reading, LiveResult<Reading>>.Values) { self.values = values }

        struct Iterator: AsyncIteratorProtocol {
            var results: LiveObserver<Reading, LiveResult<Reading>>.Iterator
            var objects: [Reading] = []

            mutating func next() async throws -> [Reading]? {
                guard let result = try await results.next() else { return nil }
                objects = result.difference.applied(to: objects, taking: result.objects)
                return objects
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(results: values.makeAsyncIterator()) }
    }

    private final class Newest<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
        let failure = Mutex<String?>(nil)
    }

    /// The objects' versions that the stream of commits leaves, applied to what there was at its beginning.
    private final class Members: Sendable {
        private let store: Store
        private let ids: Mutex<Set<Int>?>

        init(_ store: Store, _ arrived: DispatchSemaphore) {
            self.store = store
            ids = Mutex(nil)
            var commits = store.commits().makeAsyncIterator()
            let first = try? store.fetch(FetchDescriptor<Reading>()).map(\.id)
            ids.withLock { $0 = first.map { Set($0) } }
            Task.detached { [self] in
                while let commit = await commits.next() {
                    take(commit)
                    arrived.signal()
                }
            }
        }

        private func take(_ commit: Commit) {
            guard let changes = try? commit.changes(of: Reading.self) else { return }
            // Where it is not known what changed, all is read again.
            let all = changes.isComplete ? nil : try? store.fetch(FetchDescriptor<Reading>()).map(\.id)
            ids.withLock { ids in
                if let all { ids = Set(all) }
                ids?.formUnion(changes.inserted)
                ids?.subtract(changes.deleted)
            }
        }

        func difference() throws -> String? {
            let right = Set(try store.fetch(FetchDescriptor<Reading>()).map(\.id))
            return ids.withLock { ids in
                ids == right ? nil : "differ in \((ids ?? []).symmetricDifference(right).sorted())"
            }
        }
    }

    func run() throws {
        say("ready")
        while let line = readLine() {
            let words = line.split(separator: " ")
            switch words.first {
            case "write": try write(Int(words[1]) ?? 0, seed: UInt64(words[2]) ?? 0)
            case "settle": try settle()
            default: say("error \(line)")
            }
        }
        try store.close()
    }

    private func say(_ text: String) {
        print(text)
        fflush(nil)
    }

    // MARK: Writing

    private func write(_ count: Int, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<count {
            let edits = (0..<Int.random(in: 1...4, using: &random)).map { _ in Edit(&random) }
            try store.write { tx in for edit in edits { try edit.make(tx) } }
            say("w")
        }
        say("written")
    }

    private enum Edit {
        case put(Reading)
        case move(Int, by: Int)
        case delete(Int)
        /// A change that is taken back in the same transaction.
        case touch(Int)

        init(_ random: inout SeededGenerator) {
            let id = Int.random(in: Convergence.ids, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                self = .put(
                    Reading(
                        id: id, group: Int.random(in: 0..<Convergence.groups, using: &random),
                        value: Int.random(in: 0..<100, using: &random), note: id % 2 == 0 ? "even" : "odd"))
            case 4..<7: self = .move(id, by: Int.random(in: -30...30, using: &random))
            case 7..<9: self = .delete(id)
            default: self = .touch(id)
            }
        }

        func make(_ tx: borrowing WriteTransaction) throws {
            switch self {
            case .put(let reading): try tx.upsert(reading)
            case .move(let id, let distance):
                guard try tx.get(Reading.self, id: id) != nil else { return }
                try tx.update(Reading.self, id: id) { $0.value += distance }
            case .delete(let id): try tx.delete(Reading.self, id: id)
            case .touch(let id):
                guard let before = try tx.get(Reading.self, id: id) else { return }
                try tx.update(Reading.self, id: id) { $0.group = 99 }
                try tx.update(before)
            }
        }
    }

    // MARK: Settling

    /// A minute for what takes a second at most, where the system has lost a notice.
    private func settle() throws {
        let deadline = DispatchTime.now() + 60
        while true {
            var wrong: String?
            for check in checks where wrong == nil { wrong = try check.difference().map { "\(check.name): \($0)" } }
            guard let wrong else { break }
            if arrived.wait(timeout: deadline) == .timedOut { return say("stuck \(wrong)") }
        }
        var hash: UInt64 = 14_695_981_039_346_656_037
        for reading in try store.fetch(FetchDescriptor<Reading>()) {
            for byte in "\(reading)".utf8 { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
        }
        say("settled \(hash)")
    }
}
