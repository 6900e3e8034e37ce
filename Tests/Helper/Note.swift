// SPDX-License-Identifier: Apache-2.0

import Roost

/// The entity that tests and helper share, each with a declaration of its own.
@Entity struct Note {
    var id: Int
    var text: String
    static let indexes: [Index<Note>] = [Index(\.text)]
}
