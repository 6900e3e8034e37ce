// SPDX-License-Identifier: Apache-2.0

import CPeers

/// Tells rounds that had the processor for themselves from rounds that shared it with another program or machine.
///
/// Before and after each round a fixed piece of arithmetic is timed. Where one of the two takes clearly longer than the
/// fastest so far, the round is repeated, for every peer alike; after some repetitions the one with the fastest pair
/// counts, and is reported as disturbed.
struct QuietRounds {
    private(set) var repeated = 0
    private(set) var disturbed = 0

    private var fastest: UInt64
    private static let tolerance = 1.08
    private static let maximumRepetitions = 20

    init() {
        fastest = (0..<40).map { _ in bench_probe() }.min() ?? 1
    }

    mutating func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        var best: (result: Result, probe: UInt64)?
        for _ in 0..<Self.maximumRepetitions {
            let before = bench_probe()
            let result = try body()
            let probe = max(before, bench_probe())
            fastest = min(fastest, probe)
            if best == nil || probe < best?.probe ?? 0 { best = (result, probe) }
            if Double(probe) <= Double(fastest) * Self.tolerance { return result }
            repeated += 1
        }
        disturbed += 1
        if let best { return best.result }
        return try body()
    }
}
