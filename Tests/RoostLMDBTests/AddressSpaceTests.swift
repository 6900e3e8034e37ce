// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import RoostTestSupport
import Testing

// Hazard 8: where the system refuses a large map, the largest power of two that it grants is taken.
@Suite(.disabled(if: isSanitized)) struct AddressSpaceTests {
    @Test func aLimitedProcessGetsASmallerMap() throws {
        try withTemporaryFolder { folder in
            for gibibytes in [3, 6] {
                let helper = try HelperProcess(["map", folder], addressSpace: gibibytes << 20)
                let words = try #require(helper.line()).split(separator: " ")
                #expect(helper.finish() == 0)
                #expect(words.first == "map")
                let map = try #require(words.last.flatMap { Int($0) })
                #expect(map >= 1 << 28 && map < gibibytes << 30)
                #expect(map.nonzeroBitCount == 1, "\(map)")
            }
        }
    }

    @Test func theVariableSetsTheMapsSizeWhereNoLimitIsGiven() throws {
        try withTemporaryFolder { folder in
            let helper = try HelperProcess(["map", folder], variables: ["ROOST_MAP_SIZE": "\((3 << 20) + 5)"])
            #expect(helper.line() == "map \(3 << 20)")
            #expect(helper.finish() == 0)
        }
    }

    @Test func tooSmallForTheFileIsATypedError() throws {
        try withTemporaryFolder { folder in
            try Environment.with(folder) { _ = try $0.databases("1") }
            // A file of 8 GiB, all of it a hole: its map is not granted within 3 GiB.
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: Environment.dataFile(in: folder)))
            try file.truncate(atOffset: 8 << 30)
            try file.close()
            let helper = try HelperProcess(["map", folder], addressSpace: 3 << 20)
            let line = try #require(helper.line())
            #expect(helper.finish() == 1)
            #expect(line.hasPrefix("error noAddressSpace"), "\(line)")
        }
    }
}
