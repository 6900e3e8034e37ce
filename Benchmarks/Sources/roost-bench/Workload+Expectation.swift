// SPDX-License-Identifier: Apache-2.0

import CPeers

/// The hash of a result, and how many items it had.
struct Fingerprint: Equatable {
    var checksum = bench_hash_seed
    var rows: UInt64 = 0

    /// Takes the hash of the next item of the result.
    @inline(__always)
    mutating func take(_ itemHash: UInt64) {
        checksum = bench_hash_value(checksum, itemHash)
        rows += 1
    }
}

extension Workload {
    /// What every peer must answer, from the generated items alone. An operation that writes is judged by the scan of
    /// the table that follows it.
    func expectation(_ operation: Operation) -> Fingerprint {
        switch operation {
        case .insertSeqBulk, .scanAll: expectation(ids: 1...Int64(count))
        case .getRandom, .getRandomTxn: expectation(ids: lookupIDs)
        case .batchGet: expectation(ids: batchIDs)
        case .top: expectationOfTop()
        }
    }

    private func expectation(ids: some Sequence<Int64>) -> Fingerprint {
        var result = Fingerprint()
        for id in ids {
            result.take(bench_hash_item(items.baseAddress! + Int(id - 1)))
        }
        return result
    }

    private func expectationOfTop() -> Fingerprint {
        let byType = Dictionary(grouping: 0..<count) { items[$0].item_type }
        let newest = byType.mapValues { places in
            // The highest ID comes last among equals, as Roost orders ties.
            places.sorted { (items[$0].created_at, $1) > (items[$1].created_at, $0) }.prefix(Workload.topLimit)
        }
        var result = Fingerprint()
        for type in topTypes {
            for place in newest[type] ?? [] {
                result.take(bench_hash_item(items.baseAddress! + place))
            }
        }
        return result
    }
}
