// SPDX-License-Identifier: Apache-2.0

/// All that a run has found.
struct Results {
    /// One operation of one peer.
    struct Measurement {
        /// Per unit of the operation, one for each round, in the order of the rounds.
        var rounds: [Double]
        var checksum: UInt64

        /// The median, which of an even number is the mean of the middle two.
        var median: Double {
            let sorted = rounds.sorted()
            let middle = sorted.count / 2
            return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        }
    }

    /// The memory of a process that runs one peer alone, in bytes.
    struct Memory {
        /// With the generated data, before the database was opened.
        var base: Int
        var peak: Int
    }

    let count: Int
    let rounds: Int
    let operations: [Operation]
    let peers: [PeerKind]
    var measurements: [Operation: [PeerKind: Measurement]] = [:]
    var fileSizes: [PeerKind: Int] = [:]
    var memory: [PeerKind: Memory] = [:]
    /// Rounds of reads that were repeated because the processor was shared, and those that count although it was.
    var repeatedRounds = 0
    var disturbedRounds = 0

    /// The peer's median as a multiple of LMDB's in the same run.
    func ratio(_ operation: Operation, _ peer: PeerKind) -> Double? {
        guard let base = measurements[operation]?[.lmdb], let own = measurements[operation]?[peer] else { return nil }
        return own.median / base.median
    }

    /// Where Roost is above the bar that holds from the first version on.
    var missedOpeningBars: [Operation] {
        operations.filter { operation in
            guard let bar = operation.openingBar, let ratio = ratio(operation, .roost) else { return false }
            return ratio > bar
        }
    }
}
