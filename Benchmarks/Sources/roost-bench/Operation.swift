// SPDX-License-Identifier: Apache-2.0

/// An operation whose time is measured.
///
/// To add one: a case here with its figures, its reference in `Workload+Expectation.swift`, and what each peer does.
enum Operation: String, CaseIterable, Hashable {
    case insertSeqBulk = "insert_seq_bulk"
    case getRandom = "get_random"
    case getRandomTxn = "get_random_txn"
    case batchGet = "batch_get_1000"
    case top = "top100"
    case scanAll = "scan_all"

    /// Whether it wants a fresh database each round. These come first; the last round's databases serve the reads.
    var fillsFreshDatabase: Bool {
        self == .insertSeqBulk
    }

    /// What one of `divisor(_:)` is.
    var unit: String {
        switch self {
        case .insertSeqBulk, .batchGet, .scanAll: "item"
        case .getRandom, .getRandomTxn: "lookup"
        case .top: "query"
        }
    }

    /// By how much the time of a run is divided.
    func divisor(_ workload: Workload) -> Int {
        switch self {
        case .insertSeqBulk, .scanAll: workload.count
        case .getRandom, .getRandomTxn: Workload.lookupCount
        case .batchGet: Workload.batchSize * Workload.batchCount
        case .top: Workload.topCount
        }
    }

    /// The most that Roost means to take, as a multiple of LMDB in C at a million items.
    var bar: Double? {
        switch self {
        case .insertSeqBulk: 0.4
        case .getRandom, .batchGet: 1.2
        case .getRandomTxn: 1.3
        case .top: 1.45
        case .scanAll: 1.6
        }
    }

    /// The bar that holds from the first version on; `--check-bars` fails above it.
    var openingBar: Double? {
        switch self {
        case .insertSeqBulk: nil
        case .getRandom: 1.35
        case .batchGet: 1.45
        case .getRandomTxn, .top: 1.8
        case .scanAll: 2.5
        }
    }

    /// What SQLite took, as a multiple of LMDB, when the workload was drawn up. Our own C peers should be near it:
    /// else one of them is written badly, or the machine was not quiet.
    func referenceSQLiteRatio(count: Int) -> Double? {
        let ratios: (million: Double, hundredThousand: Double) =
            switch self {
            case .insertSeqBulk: (1.73, 2.50)
            case .getRandom: (1.52, 2.46)
            case .getRandomTxn: (3.58, 7.88)
            case .batchGet: (1.58, 2.51)
            case .top: (2.58, 2.72)
            case .scanAll: (3.66, 4.64)
            }
        return switch count {
        case 1_000_000: ratios.million
        case 100_000: ratios.hundredThousand
        default: nil
        }
    }
}

/// A row of the table: a timed operation, or a size.
enum Row: Hashable {
    case operation(Operation)
    /// The bytes of all database files after `insert_seq_bulk`.
    case fileSize
    /// The most memory of a process that runs one peer alone, and what it held before it opened the database.
    case peakRSS

    static let all = Operation.allCases.map(Row.operation) + [.fileSize, .peakRSS]
    static let allNames = all.map(\.name)

    var name: String {
        switch self {
        case .operation(let operation): operation.rawValue
        case .fileSize: "file_size"
        case .peakRSS: "peak_rss"
        }
    }

    init?(name: String) {
        guard let row = Row.all.first(where: { $0.name == name }) else { return nil }
        self = row
    }
}
