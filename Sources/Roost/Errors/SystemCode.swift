// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The `errno` values that Roost tells apart.
enum SystemCode {
    static let noSpace = ENOSPC
    static let noAccess = EACCES
    static let notPermitted = EPERM
    static let readOnlyFileSystem = EROFS
    static let noEntry = ENOENT
    static let invalid = EINVAL

    static func describe(_ code: Int32) -> String { String(cString: strerror(code)) }
}
