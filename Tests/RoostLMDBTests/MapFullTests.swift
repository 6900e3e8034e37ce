// SPDX-License-Identifier: Apache-2.0

import RoostLMDB
import RoostTestSupport
import Testing

// Hazard 4: a full map is an error of one transaction.
@Suite struct MapFullTests {
    @Test func aFullMapFailsOneTransactionAndALargerOneHelps() throws {
        try withTemporaryFolder { folder in
            var kept = 0
            let small = Environment.Options(mapSize: 1 << 20, durability: .unsafe)
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
                #expect(lmdbError(failure)?.isMapFull == true)
                #expect(kept > 100)
                #expect(try environment.read { try $0.entries(database).count } == kept)
                #expect(try #require(environment.sizes).map == 1 << 20)
            }
            let larger = Environment.Options(mapSize: 1 << 23, durability: .unsafe)
            try Environment.with(folder, options: larger) { environment in
                let database = try environment.databases("1")[0]
                try environment.write { transaction in
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
}
