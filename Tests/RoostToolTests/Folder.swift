// SPDX-License-Identifier: Apache-2.0

import Foundation

/// All there is to see of a folder: names, sizes, times and bytes.
struct FolderState: Equatable {
    struct Entry: Equatable {
        let kind: FileAttributeType?
        let modified: Date?
        let bytes: Data?
    }

    let entries: [String: Entry]

    init(_ path: String) throws {
        let files = FileManager.default
        var entries: [String: Entry] = [:]
        // The path itself, which may be missing or a file, and everything below it.
        for name in [""] + ((try? files.subpathsOfDirectory(atPath: path)) ?? []) {
            let attributes = try? files.attributesOfItem(atPath: "\(path)/\(name)")
            entries[name] = Entry(
                kind: attributes?[.type] as? FileAttributeType, modified: attributes?[.modificationDate] as? Date,
                bytes: files.contents(atPath: name.isEmpty ? path : "\(path)/\(name)"))
        }
        self.entries = entries
    }
}
