// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Roost

/// Runs `body` on a new store, which is removed afterwards.
func withTemporaryStore<Result>(_ entities: [any Entity.Type], _ body: (Store) throws -> Result) throws -> Result {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("query-\(UUID().uuidString).roost")
    defer { try? FileManager.default.removeItem(at: url) }
    let store = try Store.open(at: url, options: Store.Options(durability: .unsafe), entities: entities)
    let result = Swift.Result { try body(store) }
    try store.close()
    return try result.get()
}
