// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Foundation evaluates thousands of nested terms on a large stack. Roost must on a stack of 512 KiB.
@Suite("Large predicates on small stacks") struct LargePredicateTests {
    /// Terms of a chain of ten thousand nodes: each is a comparison, its three operands and what joins it.
    private static let terms = 2_000
    private static let nesting = repetitions(4_000, thorough: 9_000)

    /// The predicate finds the same in every form of reading, by every plan, on a small stack.
    private func expect(
        _ predicate: Predicate<Pebble>, finds holds: @escaping @Sendable (Pebble) -> Bool, plan: String? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let expected = Pebble.all.filter(holds).map(\.id)
        try withTemporaryStore([Pebble.self]) { store in
            try store.write { tx in try tx.insert(contentsOf: Pebble.all) }
            try onSmallStack {
                let request = FetchDescriptor<Pebble>(predicate: predicate)
                try store.read { tx in
                    let context = tx.context
                    var plans = ""
                    for execution in try context.planner(request).all() {
                        plans += execution.describe()
                        let ids = try context.rows(Pebble.self, execution).map(\.id).sorted()
                        #expect(ids == expected, sourceLocation: location)
                    }
                    let count = try tx.count(request)
                    #expect(count == expected.count, sourceLocation: location)
                    if let plan { #expect(plans.contains(plan), sourceLocation: location) }
                }
                try store.write { tx in
                    let count = try tx.count(request)
                    #expect(count == expected.count, sourceLocation: location)
                }
            }
        }
    }

    @Test(arguments: Built.Shape.allCases)
    func disjunctionsOfOneFieldOverflowedTheStack(_ shape: Built.Shape) throws {
        let predicate = try Built.predicate { root in
            Built.joined(
                // Fifty values: for more ranges than that no index of forty rows is worth it.
                (0..<Self.terms).map { Built.equal(Built.field(root, \.a), Built.constant($0 * 3 % 150)) }, shape,
                Built.or)
        }
        try expect(predicate, finds: { $0.a % 3 == 0 }, plan: "index scan Pebble(a)")
    }

    @Test(arguments: Built.Shape.allCases)
    func disjunctionsOfSeveralFieldsOverflowedTheStack(_ shape: Built.Shape) throws {
        let predicate = try Built.predicate { root in
            let terms = (0..<Self.terms).map { number in
                number % 100 == 0
                    ? Built.nameContains(root, " \(number)")
                    : Built.equal(Built.field(root, number % 2 == 0 ? \.a : \.b), Built.constant(number))
            }
            return Built.joined(terms, shape, Built.or)
        }
        try expect(predicate) { $0.a > 0 && $0.a % 2 == 0 || $0.b % 2 == 1 || $0.id == 0 }
    }

    @Test(arguments: Built.Shape.allCases)
    func conjunctionsOverflowedTheStack(_ shape: Built.Shape) throws {
        let predicate = try Built.predicate { root in
            let terms = (0..<Self.terms).map { number in
                number % 50 == 7
                    ? Built.nameContains(root, "pebble")
                    : Built.not(Built.equal(Built.field(root, \.a), Built.constant(number * 2)))
            }
            return Built.joined(terms, shape, Built.and)
        }
        // 7 and its like were left out.
        try expect(predicate) { $0.a % 2 == 1 || $0.a / 2 % 50 == 7 }
    }

    @Test(arguments: [0, 1])
    func negationsOfNegationsOverflowedTheStack(_ odd: Int) throws {
        let predicate = try Built.predicate { root in
            (0..<Self.nesting + odd).reduce(Built.equal(Built.field(root, \.a), Built.constant(3))) { inner, _ in
                Built.not(inner)
            }
        }
        try expect(predicate, finds: { ($0.a == 3) == (odd == 0) }, plan: odd == 0 ? "index scan Pebble(a)" : nil)
    }

    /// Neither chain is of one kind: nothing can be made flat.
    @Test func alternatingJunctionsOverflowedTheStack() throws {
        let predicate = try Built.predicate { root in
            var condition = Built.equal(Built.field(root, \.b), Built.constant(-1))
            for number in (0..<Self.terms / 2).reversed() {
                let bound = Built.not(Built.equal(Built.field(root, \.b), Built.constant(-number)))
                let hit = Built.equal(Built.field(root, \.a), Built.constant(number * 2))
                condition = Built.or(hit, Built.and(bound, condition))
            }
            return condition
        }
        try expect(predicate) { $0.a % 2 == 0 }
    }

    @Test(arguments: Built.Shape.allCases)
    func sumsOverflowedTheStack(_ shape: Built.Shape) throws {
        let predicate = try Built.predicate { root in
            let parts = [Built.field(root, \.a)] + (0..<Self.terms).map { _ in Built.constant(1) }
            return Built.equal(Built.joined(parts, shape, Built.sum), Built.constant(Self.terms + 5))
        }
        try expect(predicate) { $0.a == 5 }
    }

    @Test func comparisonsOfComparisonsOverflowedTheStack() throws {
        let predicate = try Built.predicate { root in
            let isTwo = Built.equal(Built.field(root, \.a), Built.constant(2))
            return (0..<Self.terms).reduce(isTwo) { inner, _ in
                Built.same(Built.equal(Built.field(root, \.a), Built.constant(-1)), inner)
            }
        }
        try expect(predicate) { $0.a == 2 }
    }

    @Test func termsBelowAnUnknownNodeOverflowedTheStack() throws {
        let predicate = try Built.predicate { root in
            let terms = (0..<Self.terms).map { Built.equal(Built.field(root, \.a), Built.constant($0 * 3)) }
            return Built.unknown(Built.joined(terms, .rightLeaning, Built.or))
        }
        try expect(predicate) { $0.a % 3 == 0 }
    }

    @Test func observersOverflowedTheirThreadsStack() async throws {
        let predicate = try Built.predicate { root in
            let terms = (0..<Self.terms).map { number in
                number % 2 == 0
                    ? Built.nameContains(root, "pebble \(number)")
                    : Built.equal(Built.sum(Built.field(root, \.a), Built.constant(1)), Built.constant(-number))
            }
            return Built.joined(terms, .leftLeaning, Built.or)
        }
        let url = FileManager.default.temporaryDirectory.appending(path: "large-\(UUID().uuidString).roost")
        defer { try? FileManager.default.removeItem(at: url) }
        let store = try await Store.open(at: url, options: Store.Options(durability: .unsafe), entities: Pebble.self)
        try await store.write { tx in try tx.insert(contentsOf: Pebble.all) }
        var counts: [Int] = []
        for try await count in FetchDescriptor(predicate: predicate).makeObserver({ $0.count }).values(store) {
            counts.append(count)
            if counts.count == 2 { break }
            try await store.write { tx in try tx.delete(Pebble.self, id: 38) }
        }
        #expect(counts[0] - counts[1] == 1)
        try store.close()
    }

    // MARK: How large

    @Test func tenThousandEqualitiesAreOneSet() throws {
        let predicate = try Built.predicate { root in
            Built.joined(
                (0..<10_000).map { Built.equal(Built.field(root, \.a), Built.constant($0)) }, .balanced, Built.or)
        }
        try withTemporaryStore([Pebble.self]) { store in
            let binding = try store.binding(of: Pebble.self)
            let clock = ContinuousClock()
            let start = clock.now
            let filter = try onSmallStack { try Lowering.filter(predicate, binding) }
            // A tenth of a second without optimisation; with quadratic merging it would be minutes.
            #expect(clock.now - start < .seconds(5))
            guard case .isIn(1, let values) = filter else {
                Issue.record("not a set")
                return
            }
            #expect(values.count == 10_000)
        }
    }

    @Test func aPredicateBeyondTheLimitThrows() throws {
        let objectTests = try Built.predicate { root in
            Built.joined(
                (0..<LoweringContext.maximumParts / 2 + 1).map {
                    Built.equal(Built.field(root, \.a), Built.constant($0))
                },
                .balanced, Built.or)
        }
        let sums = try Built.predicate { root in
            let parts = (0..<LoweringContext.maximumParts).map { _ in Built.constant(0) } + [Built.field(root, \.a)]
            return Built.equal(Built.joined(parts, .balanced, Built.sum), Built.constant(1))
        }
        try withTemporaryStore([Pebble.self]) { store in
            for predicate in [objectTests, sums] {
                let request = FetchDescriptor<Pebble>(predicate: predicate)
                let error = #expect(throws: StoreError.self) { try store.count(request) }
                #expect(error?.code == .predicateTooLarge)
            }
        }
    }
}
