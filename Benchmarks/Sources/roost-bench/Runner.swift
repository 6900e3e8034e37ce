// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs the operations, peer by peer in turn within each round, and checks every answer.
final class Runner {
    private let arguments: Arguments
    private let folder: WorkingFolder
    private let workload: Workload
    private let peers: [(kind: PeerKind, peer: any Peer)]
    private var results: Results
    private var quietRounds = QuietRounds()

    init(arguments: Arguments, folder: WorkingFolder) {
        self.arguments = arguments
        self.folder = folder
        workload = Workload(count: arguments.count)
        peers = arguments.peers.map { ($0, $0.makePeer()) }
        results = Results(
            count: arguments.count,
            rounds: arguments.rounds,
            operations: Operation.allCases.filter { arguments.rows.contains(.operation($0)) },
            peers: arguments.peers)
    }

    func run() throws -> Results {
        for (_, peer) in peers {
            peer.prepare(workload)
        }
        try fill()
        for operation in results.operations where !operation.fillsFreshDatabase {
            try read(operation)
        }
        results.repeatedRounds = quietRounds.repeated
        results.disturbedRounds = quietRounds.disturbed
        for (_, peer) in peers {
            try peer.close()
        }
        if arguments.rows.contains(.peakRSS) {
            try measureMemory()
        }
        return results
    }

    /// `insert_seq_bulk`: a fresh database for each peer in each round, read back and compared. Without that row, once
    /// and without a figure, for the reads need a filled table.
    private func fill() throws {
        let isMeasured = results.operations.contains(.insertSeqBulk)
        let expected = workload.expectation(.insertSeqBulk)
        for round in 0..<(isMeasured ? arguments.rounds : 1) {
            for (kind, peer) in turn(round) {
                progress(.insertSeqBulk, kind, round)
                try peer.close()
                try peer.open(try folder.makeEmpty(kind.rawValue), durable: false)
                let outcome = try peer.run(.insertSeqBulk, workload)
                try peer.settle(workload)
                if arguments.rows.contains(.fileSize) {
                    results.fileSizes[kind] = try folder.size(kind.rawValue)
                }
                let readBack = try peer.run(.scanAll, workload).fingerprint
                try check(.insertSeqBulk, kind, found: readBack, expected: expected)
                if isMeasured {
                    record(.insertSeqBulk, kind, outcome.nanoseconds, readBack)
                }
            }
        }
    }

    /// A read: once untimed for every peer, then the rounds.
    private func read(_ operation: Operation) throws {
        let expected = workload.expectation(operation)
        for (kind, peer) in peers {
            progress(operation, kind, nil)
            try check(operation, kind, found: try peer.run(operation, workload).fingerprint, expected: expected)
        }
        for round in 0..<arguments.rounds {
            for (kind, peer) in turn(round) {
                progress(operation, kind, round)
                let outcome = try quietRounds.run {
                    let outcome = try peer.run(operation, workload)
                    try check(operation, kind, found: outcome.fingerprint, expected: expected)
                    return outcome
                }
                record(operation, kind, outcome.nanoseconds, outcome.fingerprint)
            }
        }
    }

    /// The peers, each round beginning with another one.
    private func turn(_ round: Int) -> [(kind: PeerKind, peer: any Peer)] {
        let first = round % peers.count
        return Array(peers[first...] + peers[..<first])
    }

    private func record(_ operation: Operation, _ kind: PeerKind, _ nanoseconds: UInt64, _ found: Fingerprint) {
        let figure = Double(nanoseconds) / Double(operation.divisor(workload))
        results.measurements[operation, default: [:]][
            kind, default: Results.Measurement(rounds: [], checksum: found.checksum)
        ].rounds.append(figure)
    }

    private func check(
        _ operation: Operation, _ kind: PeerKind, found: Fingerprint, expected: Fingerprint
    ) throws {
        guard found == expected else {
            throw BenchmarkError(
                """
                WRONG RESULT: \(operation.rawValue) by \(kind.rawValue) has the checksum \
                \(hexadecimal(found.checksum)) over \(found.rows) items; \
                the data demand \(hexadecimal(expected.checksum)) over \(expected.rows)
                """)
        }
    }

    /// Each peer alone in a process of its own, each operation of the table once, after the table was filled.
    private func measureMemory() throws {
        let rows = arguments.rows.map(\.name).joined(separator: ",")
        for (kind, _) in peers {
            progress("peak_rss, \(kind.rawValue)")
            let words = try runSelf([
                "--child-rss", kind.rawValue, "--count", "\(arguments.count)", "--only", rows,
                "--directory", try folder.makeEmpty("\(kind.rawValue)-memory").path,
            ]).split(separator: " ").compactMap { Int($0) }
            if words.count == 2, words[1] > 0 {
                results.memory[kind] = Results.Memory(base: words[0], peak: words[1])
            }
        }
    }

    private func progress(_ operation: Operation, _ kind: PeerKind, _ round: Int?) {
        progress("\(operation.rawValue), \(kind.rawValue), \(round.map { "round \($0 + 1)" } ?? "untimed")")
    }

    private func progress(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("… \(text)\n".utf8))
    }
}

func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
