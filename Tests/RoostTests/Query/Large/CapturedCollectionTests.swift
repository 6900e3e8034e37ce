// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

@Suite struct CapturedCollectionTests {
    private func filter<T: Entity>(_ predicate: Predicate<T>) throws -> Filter {
        try withTemporaryStore([T.self]) { store in try Lowering.filter(predicate, try store.binding(of: T.self)) }
    }

    /// Each element was cast to a protocol, at the price of a look-up of an object.
    @Test func aMillionCapturedIDsAreReadByTheirType() throws {
        let ids = Array(0..<1_000_000)
        let clock = ContinuousClock()
        let start = clock.now
        guard case .isIn(0, let values) = try filter(#Predicate<Reading> { ids.contains($0.id) }) else {
            Issue.record("not a set")
            return
        }
        #expect(values.count == ids.count)
        // Without optimisation; a cast of each took several times as long.
        #expect(clock.now - start < .seconds(20))
    }

    @Test func nilAndNaNAmongCapturedValues() throws {
        let maybe: [Int?] = [1, nil, 3]
        guard case .or(let parts) = try filter(#Predicate<Reading> { maybe.contains($0.maybe) }),
            case .isNull = parts[0], case .isIn(_, [.int(1), .int(3)]) = parts[1]
        else {
            Issue.record("nil is not a test of its own")
            return
        }
        let numbers: Set<Double> = [1, .nan]
        guard case .isIn(_, [.double(1)]) = try filter(#Predicate<Reading> { numbers.contains($0.factor) }) else {
            Issue.record("NaN is among the values")
            return
        }
    }

    @Test func onlyNaNFindsNothing() throws {
        let numbers = [Double.nan]
        let filter = try filter(#Predicate<Reading> { numbers.contains($0.factor) })
        #expect(filter.conjuncts == nil)
    }
}
