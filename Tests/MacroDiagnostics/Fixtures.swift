// SPDX-License-Identifier: Apache-2.0

extension Fixture {
    static let all = declarations + identifiers + storage + types
}
