// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs `body` with a new, empty folder, which is removed afterwards.
package func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let path = try makeFolder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try body(path)
}

/// The asynchronous form.
package func withTemporaryFolder<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Result
) async throws -> Result {
    let path = try makeFolder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

private func makeFolder() throws -> String {
    let path = FileManager.default.temporaryDirectory.path + "/roost-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
}

/// Every file below `path` with its bytes, and every directory with nil: to prove that nothing was touched.
package func contents(of path: String) throws -> [String: Data?] {
    var found: [String: Data?] = [:]
    let files = FileManager.default
    for name in try files.subpathsOfDirectory(atPath: path) {
        var isDirectory: ObjCBool = false
        guard files.fileExists(atPath: path + "/" + name, isDirectory: &isDirectory) else { continue }
        found[name] = isDirectory.boolValue ? .some(nil) : try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
    }
    return found
}
