// SPDX-License-Identifier: Apache-2.0

/// The keys of some records, one behind the other in one piece of memory: an integer ID takes its eight bytes.
struct KeyList: Sendable {
    private var bytes: [UInt8] = []
    /// Of each key where the lengths differ.
    private var ends: [Int] = []
    /// Of every key; 0 where the lengths differ.
    private let width: Int

    init(width: Int) { self.width = width }

    var count: Int { width > 0 ? bytes.count / width : ends.count }

    mutating func append(_ key: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: key)
        if width == 0 { ends.append(bytes.count) }
    }

    /// The bytes are valid during the call.
    func withKey<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeKeys { try body($0[index]) }
    }

    /// The keys where they are; valid during the call.
    func withUnsafeKeys<Result>(_ body: (Keys) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { bytes in try body(Keys(bytes: bytes, list: self)) }
    }

    struct Keys {
        fileprivate let bytes: UnsafeRawBufferPointer
        fileprivate let list: KeyList

        var count: Int { list.count }

        subscript(_ index: Int) -> UnsafeRawBufferPointer {
            let (width, ends) = (list.width, list.ends)
            let start = width > 0 ? index * width : index == 0 ? 0 : ends[index - 1]
            let end = width > 0 ? start + width : ends[index]
            return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        }
    }
}
