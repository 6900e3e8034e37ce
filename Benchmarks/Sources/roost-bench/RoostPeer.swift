// SPDX-License-Identifier: Apache-2.0

import CPeers
import Foundation
import Roost

/// The workload's item, as a user of Roost declares it.
@Entity
struct Item {
    var id: Int64
    var name: String
    var itemType: Int
    var price: Double
    var createdAt: Int64
    var isActive: Bool
    var note: String

    static let indexes: [Index<Item>] = [Index(\.itemType, \.createdAt), Index(\.name)]
}

extension Item {
    /// The same item out of the C form.
    init(_ item: UnsafePointer<bench_item>) {
        self.init(
            id: item.pointee.id,
            name: Item.string(bench_item_name(item), item.pointee.name_length),
            itemType: Int(item.pointee.item_type),
            price: item.pointee.price,
            createdAt: item.pointee.created_at,
            isActive: item.pointee.is_active != 0,
            note: Item.string(bench_item_note(item), item.pointee.note_length))
    }

    private static func string(_ start: UnsafePointer<CChar>?, _ length: UInt8) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }

    /// The hash of all fields: `bench_hash_item` for the Swift value.
    @inline(__always)
    var benchmarkHash: UInt64 {
        var hash = bench_hash_value(bench_hash_seed, UInt64(bitPattern: id))
        hash = Item.hash(hash, name)
        hash = bench_hash_value(hash, UInt64(bitPattern: Int64(itemType)))
        hash = bench_hash_double(hash, price)
        hash = bench_hash_value(hash, UInt64(bitPattern: createdAt))
        hash = bench_hash_value(hash, isActive ? 1 : 0)
        return Item.hash(hash, note)
    }

    @inline(__always)
    private static func hash(_ hash: UInt64, _ string: String) -> UInt64 {
        // No copy, as in C: every string that a store gives is native UTF-8.
        string.utf8.withContiguousStorageIfAvailable { bench_hash_bytes(hash, $0.baseAddress, $0.count) } ?? 0
    }
}

/// Roost through its public API, with default options but for durability.
///
/// All functions are synchronous, so that Roost's synchronous forms are chosen.
final class RoostPeer: Peer {
    private var store: Store?
    private var items: [Item] = []
    private var batches: [[Int64]] = []

    func prepare(_ workload: Workload) {
        items = (0..<workload.count).map { Item(workload.items.baseAddress! + $0) }
        batches = (0..<Workload.batchCount).map { Array(workload.batch($0)) }
    }

    func open(_ directory: URL, durable: Bool) throws {
        let url = directory.appendingPathComponent("Items.roost")
        store = try Store.open(
            at: url, options: Store.Options(durability: durable ? .full : .unsafe), entities: Item.self)
    }

    func run(_ operation: Operation, _ workload: Workload) throws -> Outcome {
        guard let store else { throw BenchmarkError("the store is not open") }
        let clock = ContinuousClock()
        var result = Fingerprint()
        let start = clock.now
        switch operation {
        case .insertSeqBulk: try insertSeqBulk(store, &result)
        case .getRandom: try getRandom(store, workload, &result)
        case .getRandomTxn: try getRandomTxn(store, workload, &result)
        case .batchGet: try batchGet(store, &result)
        case .top: try top(store, workload, &result)
        case .scanAll: try scanAll(store, &result)
        }
        let duration = (clock.now - start).components
        return Outcome(
            nanoseconds: UInt64(duration.seconds) * 1_000_000_000 + UInt64(duration.attoseconds / 1_000_000_000),
            fingerprint: result)
    }

    func settle(_ workload: Workload) throws {
        guard let store else { throw BenchmarkError("the store is not open") }
        // The index on `name` is not read by any operation yet.
        var ignored = Fingerprint()
        try scanAll(store, &ignored)
        try top(store, workload, &ignored)
    }

    func close() throws {
        try store?.close()
        store = nil
    }

    // MARK: Operations

    private func insertSeqBulk(_ store: Store, _ result: inout Fingerprint) throws {
        let items = items
        try store.write { tx in
            try tx.insert(contentsOf: items)
        }
        result.rows = UInt64(items.count)
    }

    private func getRandom(_ store: Store, _ workload: Workload, _ result: inout Fingerprint) throws {
        let ids = workload.lookupIDs
        result = try store.read { tx in
            var found = Fingerprint()
            for id in ids {
                if let item = try tx.get(Item.self, id: id) {
                    found.take(item.benchmarkHash)
                }
            }
            return found
        }
    }

    private func getRandomTxn(_ store: Store, _ workload: Workload, _ result: inout Fingerprint) throws {
        for id in workload.lookupIDs {
            if let item = try store.get(Item.self, id: id) {
                result.take(item.benchmarkHash)
            }
        }
    }

    private func batchGet(_ store: Store, _ result: inout Fingerprint) throws {
        for ids in batches {
            for item in try store.get(Item.self, ids: ids) {
                result.take(item.benchmarkHash)
            }
        }
    }

    private func top(_ store: Store, _ workload: Workload, _ result: inout Fingerprint) throws {
        for type in workload.topTypes {
            let type = Int(type)
            var request = FetchDescriptor<Item>(
                predicate: #Predicate { $0.itemType == type },
                sortBy: [SortDescriptor(\.createdAt, order: .reverse)])
            request.fetchLimit = Workload.topLimit
            for item in try store.fetch(request) {
                result.take(item.benchmarkHash)
            }
        }
    }

    private func scanAll(_ store: Store, _ result: inout Fingerprint) throws {
        result = try store.read { tx in
            var found = Fingerprint()
            try tx.forEach(FetchDescriptor<Item>()) { item in
                found.take(item.benchmarkHash)
            }
            return found
        }
    }

    // MARK: Memory

    /// Reads the whole table in chunks, and calls `sample` after each.
    func scanInChunks(size: Int, sample: () -> Void) async throws -> Fingerprint {
        guard let store else { throw BenchmarkError("the store is not open") }
        var result = Fingerprint()
        for try await chunk in store.chunks(FetchDescriptor<Item>(), size: size) {
            for item in chunk {
                result.take(item.benchmarkHash)
            }
            sample()
        }
        return result
    }
}
