// SPDX-License-Identifier: Apache-2.0

import CPeers
import Foundation

/// The peers in the order of the table's columns.
enum PeerKind: String, CaseIterable, Hashable {
    case lmdb
    case sqlite
    case roost

    func makePeer() -> any Peer {
        switch self {
        case .lmdb: CPeer(bench_peer_kind_lmdb)
        case .sqlite: CPeer(bench_peer_kind_sqlite)
        case .roost: RoostPeer()
        }
    }
}

/// A store that does the work.
protocol Peer: AnyObject {
    /// Brings the items into the form that the peer's program would hold them in. Never timed.
    func prepare(_ workload: Workload)

    /// Opens the database in an existing directory, and creates it with both indexes if it is not there.
    func open(_ directory: URL, durable: Bool) throws

    /// Runs one operation. What the workload excludes from the time happens outside of `nanoseconds`.
    func run(_ operation: Operation, _ workload: Workload) throws -> Outcome

    /// Reads table and indexes once, untimed, and brings the files to their size at rest.
    func settle(_ workload: Workload) throws

    func close() throws
}

/// What a run took and found.
struct Outcome {
    var nanoseconds: UInt64
    var fingerprint: Fingerprint
}

/// A peer that is written in C.
final class CPeer: Peer {
    private let kind: bench_peer_kind
    private var peer: OpaquePointer?

    init(_ kind: bench_peer_kind) {
        self.kind = kind
    }

    deinit {
        bench_peer_close(peer)
    }

    func prepare(_ workload: Workload) {}

    func open(_ directory: URL, durable: Bool) throws {
        var result = bench_result()
        peer = bench_peer_open(kind, directory.path, durable ? 1 : 0, &result)
        try check(&result)
    }

    func run(_ operation: Operation, _ workload: Workload) throws -> Outcome {
        var result = bench_result()
        var input = workload.forC
        bench_peer_run(peer, operation.forC, &input, &result)
        try check(&result)
        return Outcome(
            nanoseconds: result.nanoseconds,
            fingerprint: Fingerprint(checksum: result.checksum, rows: result.rows))
    }

    func settle(_ workload: Workload) throws {
        var result = bench_result()
        bench_peer_settle(peer, &result)
        try check(&result)
    }

    func close() {
        bench_peer_close(peer)
        peer = nil
    }

    private func check(_ result: inout bench_result) throws {
        if result.failed != 0 {
            throw BenchmarkError(String(cString: bench_result_message(&result)))
        }
    }
}

extension Operation {
    fileprivate var forC: bench_operation {
        switch self {
        case .insertSeqBulk: bench_operation_insert_seq_bulk
        case .getRandom: bench_operation_get_random
        case .getRandomTxn: bench_operation_get_random_txn
        case .batchGet: bench_operation_batch_get
        case .top: bench_operation_top
        case .scanAll: bench_operation_scan_all
        }
    }
}
