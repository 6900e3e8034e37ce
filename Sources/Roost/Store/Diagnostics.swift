// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Messages for the developer that no caller can catch; to the standard error stream.
enum Diagnostics {
    static func report(_ message: String) {
        FileHandle.standardError.write(Data("Roost: \(message)\n".utf8))
    }
}
