// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// Runs the live rows, each on a store of its own.
struct LiveBench {
    let arguments: Arguments
    let folder: WorkingFolder
    let workload: Workload
    var figures: [LiveFigure] = []
    /// Remarks below the table.
    var notes: [String] = []

    init(_ arguments: Arguments, _ folder: WorkingFolder) {
        self.arguments = arguments
        self.folder = folder
        workload = Workload(count: arguments.count)
    }

    var isSmoke: Bool { arguments.count <= Arguments.smokeCount }

    mutating func run() async throws {
        for group in LiveGroup.allCases where arguments.liveGroups.contains(group) {
            try? FileHandle.standardError.write(contentsOf: Data("… \(group.rawValue)\n".utf8))
            switch group {
            case .crowd: try await measureCrowd()
            case .untouched: try await measureUntouched()
            case .maintained: try await measureMaintained()
            case .resolvers: try await measureResolvers()
            case .process: try await measureOtherProcess()
            case .imports: try await measureImport()
            }
        }
    }

    /// A store without fsync that holds the first `count` items.
    func makeStore(_ name: String, count: Int) throws -> Store {
        let url = try folder.makeEmpty("live").appendingPathComponent("\(name).roost")
        let store = try openForLive(url)
        try fill(store, count)
        return store
    }

    private func fill(_ store: Store, _ count: Int) throws {
        let items = (0..<count).map { Item(workload.items.baseAddress! + $0) }
        try store.write { tx in try tx.insert(contentsOf: items) }
    }

    /// The item with this ID, as it was generated.
    func item(_ id: Int64) -> Item { Item(workload.items.baseAddress! + Int(id - 1)) }

    // MARK: What is right

    /// A live value must be what a fetch gives.
    func demand(_ isRight: Bool, _ what: String) throws {
        if !isRight { throw BenchmarkError("WRONG RESULT: \(what)") }
    }
}

func openForLive(_ url: URL) throws -> Store {
    try Store.open(at: url, options: Store.Options(durability: .unsafe), entities: Item.self)
}

/// Synchronous, so that the form is chosen that commits on this thread.
func update(_ store: Store, _ id: Int64, _ change: (inout Item) -> Void) throws {
    try store.write { tx in _ = try tx.update(Item.self, id: id) { change(&$0) } }
}

func fetchNow<T: Entity>(_ store: Store, _ request: FetchDescriptor<T>) throws -> [T] { try store.fetch(request) }
func countNow<T: Entity>(_ store: Store, _ request: FetchDescriptor<T>) throws -> Int { try store.count(request) }
