// SPDX-License-Identifier: Apache-2.0

/// What one commit, or several that were merged, did to the objects of one entity, without the Swift type.
struct EntityChanges: Sendable {
    enum Kind: UInt8, Sendable { case inserted, updated, deleted }

    struct Row: Sendable {
        let key: [UInt8]
        var kind: Kind
        /// Of an update.
        var fields: ChangedFields
        /// Deleted by one of the merged commits and inserted by another before it: no change from the first to the last,
        /// but who reads the store meanwhile may have seen the object.
        var isTransient = false
    }

    let entity: Int
    let name: String
    /// False when more objects were changed than are followed one by one: any object may have changed.
    var isComplete = true
    var rows: [Row] = []
    /// The records before and after. Nil when nobody wanted them as the commit was made, or they took too much memory.
    var images: RowImages?

    /// Calls `body` with the records of a row before and after; nil for one that there was not, or that was not kept.
    func withImages<Result>(
        of row: Int, _ body: (_ old: UnsafeRawBufferPointer?, _ new: UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        guard let images else { return try body(nil, nil) }
        return try images.withImages(of: row, body)
    }
}

/// The records of some rows before and after, in two pieces of memory.
struct RowImages: Sendable {
    var old: [UInt8] = []
    var new: [UInt8] = []
    /// In the rows' order; nil where there was no object.
    var ranges: [(old: Range<Int>?, new: Range<Int>?)] = []
    /// Whether they are the commit's own; else those after are of a later snapshot, and those before are not known.
    var areOfCommit = true

    /// Adds those of one more row, and returns how many bytes they take.
    mutating func append(old oldRecord: UnsafeRawBufferPointer?, new newRecord: UnsafeRawBufferPointer?) -> Int {
        func add(_ record: UnsafeRawBufferPointer?, to bytes: inout [UInt8]) -> Range<Int>? {
            guard let record else { return nil }
            let start = bytes.count
            bytes.append(contentsOf: record)
            return start..<bytes.count
        }
        ranges.append((add(oldRecord, to: &old), add(newRecord, to: &new)))
        return (oldRecord?.count ?? 0) + (newRecord?.count ?? 0) + Self.rangeBytes
    }

    func withImages<Result>(
        of row: Int, _ body: (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        let range = ranges[row]
        return try old.withUnsafeBytes { old in
            try new.withUnsafeBytes { new in
                try body(
                    range.old.map { UnsafeRawBufferPointer(rebasing: old[$0]) },
                    range.new.map { UnsafeRawBufferPointer(rebasing: new[$0]) })
            }
        }
    }
}

// MARK: Bytes of memory

extension EntityChanges {
    /// Of the rows, without the images.
    var rowBytes: Int { rows.reduce(0) { $0 + $1.byteCount } }
    var imageBytes: Int { images?.byteCount ?? 0 }
}

extension EntityChanges.Row {
    /// An array's header and the allocator's, beside its bytes.
    private static let arrayOverhead = 48
    var byteCount: Int { MemoryLayout<Self>.stride + Self.arrayOverhead + key.count + fields.byteCount }
}

extension RowImages {
    fileprivate static let rangeBytes = MemoryLayout<(old: Range<Int>?, new: Range<Int>?)>.stride
    var byteCount: Int { old.count + new.count + ranges.count * Self.rangeBytes }
}
