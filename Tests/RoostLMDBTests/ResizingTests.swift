// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import RoostLMDB

// Hazards 5 and 43: the map must be made anew, and a read of this process lasts.
@Suite struct ResizingTests {
    /// Runs `body` on an environment that a peer has outgrown, inside a read that began before.
    private func withOutgrownEnvironment(_ body: (Environment) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let small = Environment.Options(maximumSize: 1 << 16, durability: .unsafe)
            try Environment.with(folder, options: small) { environment in
                _ = try environment.databases("1")
                let peer = try HelperProcess(["writeRaw", folder, "2000"])
                #expect(peer.line() == "ready")
                try environment.read { _ in
                    #expect(peer.finish() == 0)
                    let sizes = try #require(environment.sizes)
                    try #require(sizes.extent > sizes.map)
                    try body(environment)
                }
                try environment.read { _ in }
                let sizes = try #require(environment.sizes)
                #expect(sizes.extent <= sizes.map)
            }
        }
    }

    /// It used to wait for ten seconds whoever was cancelled.
    @Test(arguments: [false, true]) func whoWaitsForTheMapCanBeCancelled(isWrite: Bool) throws {
        try withOutgrownEnvironment { (environment) throws in
            let flag = CancellationFlag()
            try onThreads(2) { (thread) throws in
                if thread == 0 {
                    let error = failure {
                        try flag.run {
                            if isWrite { try environment.write { _ in } } else { try environment.read { _ in } }
                        }
                    }
                    #expect(lmdbError(error)?.isCancellation == true, "\(String(describing: error))")
                } else {
                    // Until it waits.
                    while environment.resizing.try() {
                        environment.resizing.unlock()
                        sched_yield()
                    }
                    flag.set()
                }
            }
        }
    }
}
