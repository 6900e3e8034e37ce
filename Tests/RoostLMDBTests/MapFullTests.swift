// SPDX-License-Identifier: Apache-2.0

import RoostLMDB
import RoostTestSupport
import Testing

// Hazard 4: a full environment is an error of one transaction.
@Suite struct MapFullTests {
    @Test func aFullEnvironmentFailsOneTransactionAndIsEmptiedAsItIs() throws {
        try withTemporaryFolder { folder in
            var kept = 0
            let small = Environment.Options(maximumSize: 1 << 20, durability: .unsafe)
            let value = [UInt8](repeating: 3, count: 900)
            try Environment.with(folder, options: small) { environment in
                let database = try environment.databases("1")[0]
                var failure: (any Error)?
                while failure == nil {
                    do {
                        try environment.write { transaction in
                            for number in kept..<kept + 10 {
                                try transaction.put(database, Array("\(100_000 + number)".utf8), value)
                            }
                        }
                        kept += 10
                    } catch {
                        failure = error
                    }
                }
                guard case .full(let shortage)? = failure as? Environment.UseError else {
                    Issue.record("\(String(describing: failure))")
                    return
                }
                #expect(shortage.limit == 1 << 20 && shortage.needed > 1 << 20 && shortage.used <= 1 << 20)
                #expect(kept > 100)
                #expect(try environment.read { try $0.entries(database).count } == kept)
                #expect(try #require(environment.sizes).map == 1 << 21)
                #expect(try #require(environment.space).used == shortage.used)
                try environment.write { transaction in
                    transaction.isHeldToLimit = false
                    for number in 0..<kept { try transaction.delete(database, Array("\(100_000 + number)".utf8)) }
                }
                #expect(try environment.read { try $0.entries(database).isEmpty })
            }
            try Environment.with(folder, options: small) { environment in
                let database = try environment.databases("1")[0]
                try environment.write { try $0.put(database, [1], value) }
            }
        }
    }

    /// The pages that a transaction gave back are not the next one's: with none left beside them it could not even delete.
    @Test func aTransactionThatFoundNoPageLeavesRoomForTheNextThatOnlyDeletes() throws {
        try withTemporaryFolder { folder in
            let options = Environment.Options(maximumSize: 1 << 16, durability: .unsafe)
            try Environment.with(folder, options: options) { environment in
                let database = try environment.databases("1")[0]
                try environment.write { try $0.put(database, [1], [1]) }
                func delete(_ key: [UInt8]) throws {
                    try environment.write { transaction in
                        transaction.isHeldToLimit = false
                        try transaction.delete(database, key)
                    }
                }
                let sizes = try #require(environment.sizes)
                // Takes all pages but those that its commit needs, and gives them back.
                let isFull = (4..<40).contains { spare in
                    let value = [UInt8](repeating: 2, count: sizes.map - sizes.extent - spare * 4_096)
                    return failure {
                        try environment.write { transaction in
                            try transaction.put(database, [2], value)
                            try transaction.delete(database, [2])
                        }
                    } == nil
                }
                #expect(isFull)
                #expect(lmdbError(failure { try delete([1]) })?.isMapFull == true)
                try delete([1])
                #expect(try environment.read { try $0.entries(database).isEmpty })
                // More is not taken than that.
                #expect(try #require(environment.sizes).map <= sizes.map + 1 << 20)
            }
        }
    }
}
