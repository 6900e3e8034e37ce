// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

/// The keys of a request's rows as they were at one moment, in the request's order: for a walk whose body may write, and for
/// one that goes on in other snapshots.
///
/// They stand in blocks. Beyond `Limits` the full blocks go to a file without a name, so that any number of keys takes
/// the same memory: a MiB while they are gathered, a block while they are read. An integer ID takes its eight bytes, a text
/// two more than its key.
@usableFromInline
struct GatheredKeys: Sendable {
    struct Limits: Sendable {
        /// Bytes of a block, which is written and read as a whole. No less than a key with its length.
        var block = 64 << 10
        /// How many full blocks are kept in memory.
        var blocksInMemory = 16
    }

    /// How far somebody has read.
    struct Position: Sendable {
        fileprivate var block = 0
        fileprivate var offset = 0
        fileprivate(set) var passed = 0
    }

    private(set) var count = 0
    /// Of every key; 0 where each has its length before it, in two bytes.
    private let width: Int
    private let limits: Limits
    /// The store's, or where that is read only the one for temporary files.
    private let directory: String
    /// The full blocks, unless they are in `file`. There each begins at a multiple of the block's size.
    private var full: [[UInt8]] = []
    private var last: [UInt8] = []
    private var file: ScratchFile?
    private var fileBlocks = 0

    /// Runs the plan. Nothing but this adds keys, so that copies can share the file.
    init(_ execution: Execution, limits: Limits = Limits()) throws {
        let environment = execution.engine.environment
        try self.init(
            width: execution.entity.layout.idKeyWidth, limits: limits,
            directory: environment.options.isReadOnly ? NSTemporaryDirectory() : environment.directory
        ) { append in try execution.forEachKey(append) }
    }

    init(
        width: Int, limits: Limits = Limits(), directory: String,
        _ fill: (_ append: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws {
        self.width = width
        self.limits = limits
        self.directory = directory
        try fill { key in try append(key) }
    }

    /// The memory that the keys take.
    var bytesInMemory: Int { full.reduce(last.capacity) { $0 + $1.capacity } }
    var bytesInFile: Int { fileBlocks * limits.block }

    private mutating func append(_ key: UnsafeRawBufferPointer) throws {
        let size = width > 0 ? width : key.count + 2
        if last.count + size > limits.block { try startBlock() }
        if width == 0 { withUnsafeBytes(of: UInt16(key.count)) { last.append(contentsOf: $0) } }
        last.append(contentsOf: key)
        count += 1
    }

    private mutating func startBlock() throws {
        if file == nil, full.count < limits.blocksInMemory {
            full.append(last)
            last = []
            last.reserveCapacity(limits.block)
            return
        }
        do {
            let file = try file ?? ScratchFile(in: directory)
            self.file = file
            var blocks = full + [last]
            full = []
            last.removeAll()
            for number in blocks.indices {
                // What the last key has left is zeros.
                blocks[number].append(contentsOf: repeatElement(0, count: limits.block - blocks[number].count))
                try blocks[number].withUnsafeBytes { try file.write($0, at: fileBlocks * limits.block) }
                fileBlocks += 1
            }
        } catch let error as LMDBError {
            throw StoreError(gathering: error, in: directory)
        }
    }

    // MARK: Reading

    /// Calls `body` with each key in turn. The bytes are valid during the call, whatever `body` writes.
    @usableFromInline
    func forEach(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var position = Position()
        try forEach(from: &position) { key in
            try body(key)
            return true
        }
    }

    /// Goes on from `position` until `body` returns false.
    func forEach(from position: inout Position, _ body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        var buffer: [UInt8] = []
        var goesOn = true
        while goesOn, position.passed < count {
            let block = try block(position.block, &buffer)
            try block.withUnsafeBytes { bytes in
                while goesOn, position.passed < count, let key = key(bytes, &position.offset) {
                    position.passed += 1
                    goesOn = try body(key)
                }
            }
            if !goesOn { return }
            position.block += 1
            position.offset = 0
        }
    }

    /// The key at `offset` of a block, which moves behind it; nil at the block's end.
    private func key(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> UnsafeRawBufferPointer? {
        var (start, count) = (offset, width)
        if width == 0 {
            guard start + 2 <= bytes.count else { return nil }
            count = Int(bytes.loadUnaligned(fromByteOffset: start, as: UInt16.self))
            start += 2
            // No key is empty: these are the zeros behind the last of a block in the file.
            if count == 0 { return nil }
        }
        guard start + count <= bytes.count else { return nil }
        offset = start + count
        return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
    }

    private func block(_ number: Int, _ buffer: inout [UInt8]) throws -> [UInt8] {
        guard let file, number < fileBlocks else { return number < full.count ? full[number] : last }
        do {
            if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: limits.block) }
            try buffer.withUnsafeMutableBytes { try file.read($0, at: number * limits.block) }
            return buffer
        } catch let error as LMDBError {
            throw StoreError(gathering: error, in: directory)
        }
    }
}

extension StoreError {
    fileprivate init(gathering error: LMDBError, in directory: String) {
        let call = "\(error.operation): \(error.message)"
        guard error.code == SystemCode.noSpace else {
            self.init(systemError: error.code, doing: "a file for the IDs of a walk, \(call)", path: directory)
            return
        }
        self.init(
            .diskFull,
            "The disk is full at \(directory): the IDs of a walk beyond a MiB are kept in a file there until it ends (\(call)). "
                + "Free space, or walk over parts, by a limit or ranges of IDs.",
            cause: error.code, path: directory)
    }
}
