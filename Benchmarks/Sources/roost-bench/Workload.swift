// SPDX-License-Identifier: Apache-2.0

import CPeers

/// The generated items and questions, equal for all peers.
///
/// Items come from the stream with seed 42; each list of parameters has a stream of its own.
final class Workload {
    static let lookupCount = 200_000
    static let batchSize = 1_000
    static let batchCount = 200
    static let topCount = 5_000
    static let topLimit = 100
    /// Items beyond the table, for operations that insert into the filled table.
    static let spareCount = 500

    private enum Seed {
        static let lookups: UInt64 = 44
        static let batches: UInt64 = 45
        static let topTypes: UInt64 = 46
    }

    /// The number of items in the table.
    let count: Int
    /// `count` items and then `spareCount` more, in ID order; empty after `releaseItems()`.
    private(set) var items: UnsafeMutableBufferPointer<bench_item>
    let lookupIDs: UnsafeMutableBufferPointer<Int64>
    /// All batches one after the other.
    let batchIDs: UnsafeMutableBufferPointer<Int64>
    let topTypes: UnsafeMutableBufferPointer<Int32>

    init(count: Int) {
        self.count = count
        items = .allocate(capacity: count + Workload.spareCount)
        bench_generate_items(items.baseAddress, items.count)
        lookupIDs = Workload.drawIDs(Workload.lookupCount, seed: Seed.lookups, below: count)
        batchIDs = Workload.drawBatches(seed: Seed.batches, below: count)
        var random = bench_random(state: Seed.topTypes)
        topTypes = .allocate(capacity: Workload.topCount)
        for index in topTypes.indices {
            topTypes[index] = Int32(bench_random_below(&random, 16))
        }
    }

    deinit {
        items.deallocate()
        lookupIDs.deallocate()
        batchIDs.deallocate()
        topTypes.deallocate()
    }

    /// Gives the C items' memory back, for a process that only needs them in another form.
    func releaseItems() {
        items.deallocate()
        items = UnsafeMutableBufferPointer(start: nil, count: 0)
    }

    /// The IDs of one batch.
    func batch(_ index: Int) -> Slice<UnsafeMutableBufferPointer<Int64>> {
        batchIDs[index * Workload.batchSize..<(index + 1) * Workload.batchSize]
    }

    /// The same as the C peers take it. Valid while this object lives.
    var forC: bench_workload {
        bench_workload(
            items: items.baseAddress, item_count: items.isEmpty ? 0 : count,
            lookup_ids: lookupIDs.baseAddress, lookup_count: lookupIDs.count,
            batch_ids: batchIDs.baseAddress, batch_size: Workload.batchSize, batch_count: Workload.batchCount,
            top_types: topTypes.baseAddress, top_type_count: topTypes.count, top_limit: Workload.topLimit)
    }

    private static func drawID(_ random: inout bench_random, below count: Int) -> Int64 {
        1 + Int64(bench_random_below(&random, UInt64(count)))
    }

    private static func drawIDs(_ length: Int, seed: UInt64, below count: Int) -> UnsafeMutableBufferPointer<Int64> {
        var random = bench_random(state: seed)
        let ids = UnsafeMutableBufferPointer<Int64>.allocate(capacity: length)
        for index in ids.indices {
            ids[index] = drawID(&random, below: count)
        }
        return ids
    }

    /// IDs that are distinct within each batch: one already drawn for it is drawn again.
    private static func drawBatches(seed: UInt64, below count: Int) -> UnsafeMutableBufferPointer<Int64> {
        var random = bench_random(state: seed)
        let ids = UnsafeMutableBufferPointer<Int64>.allocate(capacity: batchSize * batchCount)
        for batch in 0..<batchCount {
            var drawn = Set<Int64>(minimumCapacity: batchSize)
            for place in 0..<batchSize {
                var id = drawID(&random, below: count)
                while !drawn.insert(id).inserted {
                    id = drawID(&random, below: count)
                }
                ids[batch * batchSize + place] = id
            }
        }
        return ids
    }
}
