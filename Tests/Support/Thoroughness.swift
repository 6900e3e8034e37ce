// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How often a test repeats what fails only now and then: as often as everyone has time for, or as often as it takes, with
/// `ROOST_TEST_THOROUGH` set (`Tests/thorough`).
package func repetitions(_ quick: Int, thorough: Int) -> Int {
    ProcessInfo.processInfo.environment["ROOST_TEST_THOROUGH"] == nil ? quick : thorough
}

/// Whether the tests run under a sanitizer, which itself takes more address space than some tests allow.
package let isSanitized = ProcessInfo.processInfo.environment["ROOST_TEST_SANITIZER"] != nil
