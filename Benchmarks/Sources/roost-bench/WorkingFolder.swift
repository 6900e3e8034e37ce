// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A folder of its own, in which each peer has a folder of its own.
struct WorkingFolder {
    let url: URL

    /// Makes a new folder inside `parent`, or inside the system's folder for temporary files.
    init(in parent: String?) throws {
        let parent = parent.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
        url = parent.appendingPathComponent("roost-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }

    /// An empty folder for the peer; what was there is deleted.
    func makeEmpty(_ name: String) throws -> URL {
        let folder = url.appendingPathComponent(name)
        if FileManager.default.fileExists(atPath: folder.path) {
            try FileManager.default.removeItem(at: folder)
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// The bytes of all files below a peer's folder.
    func size(_ name: String) throws -> Int {
        let folder = url.appendingPathComponent(name)
        var sum = 0
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: folder.appendingPathComponent(path).path)
            if attributes[.type] as? FileAttributeType == .typeRegular {
                sum += (attributes[.size] as? NSNumber)?.intValue ?? 0
            }
        }
        return sum
    }
}
