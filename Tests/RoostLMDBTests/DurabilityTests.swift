// SPDX-License-Identifier: Apache-2.0

import CRoostLMDB
import RoostTestSupport
import Testing

@testable import RoostLMDB

// Hazard 31: a commit waits for the disk as the option says, and by default as much as it can.
@Suite struct DurabilityTests {
    @Test func eachModeLeavesOutTheSyncsThatItNames() throws {
        #expect(Environment.Options().durability == .full)
        let modes: [(Environment.Durability, Int32)] = [(.full, 0), (.relaxed, MDB_NOMETASYNC), (.unsafe, MDB_NOSYNC)]
        for (durability, expected) in modes {
            try withTemporaryFolder { folder in
                try Environment.with(folder, options: .init(durability: durability)) { environment in
                    var flags: UInt32 = 0
                    #expect(mdb_env_get_flags(environment.handle, &flags) == 0)
                    let lazy = Int32(bitPattern: flags) & (MDB_NOSYNC | MDB_NOMETASYNC | MDB_MAPASYNC)
                    #expect(lazy == expected, "\(durability)")
                }
            }
        }
    }
}
