// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Roost

/// A place for a store in the system's temporary directory, removed at the end of the test.
final class TemporaryPlace: Sendable {
    let url: URL

    init() {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("roost-\(UUID().uuidString).roost")
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
