// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB

/// A position in a tree that is read from its pages: the way from the root to an entry, for cursors of read transactions.
///
/// Leaves are met in ascending order of their keys, which is checked at each step from one to the next: no page is met
/// twice, so that a walk over damaged pages ends.
///
/// The cursor that holds it gives its memory back.
struct PagePath {
    private struct Level {
        var page: UnsafeRawPointer
        var index: Int
        var count: Int
    }

    private let tree: PageTree
    /// From the root to the leaf; `tree.depth` of them, set from the first one that was descended from.
    private let levels: UnsafeMutablePointer<Level>
    private(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)
    private(set) var value = UnsafeRawBufferPointer(start: nil, count: 0)

    init(_ tree: PageTree) {
        self.tree = tree
        levels = .allocate(capacity: max(1, tree.depth))
    }

    func deallocate() { levels.deallocate() }

    private var leaf: Int { tree.depth - 1 }

    // MARK: Moves

    mutating func first() throws(LMDBError) -> Bool {
        if tree.depth == 0 { return false }
        try descend(from: 0, tree.root, toLast: false)
        return try enter()
    }

    mutating func last() throws(LMDBError) -> Bool {
        if tree.depth == 0 { return false }
        try descend(from: 0, tree.root, toLast: true)
        return try enter()
    }

    /// Undefined before a move that returned true, or after one that did not.
    @inline(__always)
    mutating func next() throws(LMDBError) -> Bool {
        let index = levels[leaf].index &+ 1
        if index < levels[leaf].count {
            levels[leaf].index = index
            return try enter()
        }
        return try nextLeaf()
    }

    @inline(__always)
    mutating func previous() throws(LMDBError) -> Bool {
        let index = levels[leaf].index
        if index > 0 {
            levels[leaf].index = index &- 1
            return try enter()
        }
        return try previousLeaf()
    }

    /// The first entry that is not below `bound`.
    mutating func seek(atLeast bound: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        if tree.depth == 0 { return false }
        if try place(bound) { return try enter() }
        return try nextLeaf()
    }

    /// The last entry that is below `bound`.
    mutating func seek(below bound: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        if tree.depth == 0 { return false }
        _ = try place(bound)
        return try previous()
    }

    mutating func seek(exactly bound: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        guard tree.depth > 0, try place(bound), try enter() else { return false }
        return key.count == bound.count && PageTree.compare(keyNode, bound) == 0
    }

    /// Goes to the leaf in whose span `bound` lies, and there to the first entry that is not below it; false, and behind
    /// the last entry, when the leaf has none.
    private mutating func place(_ bound: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        var number = tree.root
        for level in 0..<tree.depth {
            let isLeaf = level == leaf
            let page = try tree.page(number, isLeaf: isLeaf)
            let count = PageTree.count(page)
            // On a branch: the first entry above the bound, whose left neighbour is the one. On a leaf: the first not below.
            var (low, high) = (isLeaf ? 0 : 1, count)
            while low < high {
                let middle = (low &+ high) >> 1
                let order = PageTree.compare(try tree.node(page, middle), bound)
                if isLeaf ? order < 0 : order <= 0 { low = middle &+ 1 } else { high = middle }
            }
            let index = isLeaf ? low : low &- 1
            (levels + level).initialize(to: Level(page: page, index: index, count: count))
            if !isLeaf { number = try tree.childNumber(page, index) }
        }
        return levels[leaf].index < levels[leaf].count
    }

    // MARK: From leaf to leaf

    @inline(never)
    private mutating func nextLeaf() throws(LMDBError) -> Bool {
        let before = levels[leaf].page
        var level = leaf &- 1
        while level >= 0, levels[level].index &+ 1 >= levels[level].count { level &-= 1 }
        if level < 0 { return false }
        levels[level].index &+= 1
        try descend(from: level &+ 1, try tree.childNumber(levels[level].page, levels[level].index), toLast: false)
        let last = try tree.node(before, PageTree.count(before) &- 1)
        guard PageTree.compare(last, try firstKey()) < 0 else { throw PageTree.damaged() }
        try prefetchNeighbour(1)
        return try enter()
    }

    @inline(never)
    private mutating func previousLeaf() throws(LMDBError) -> Bool {
        let before = levels[leaf].page
        var level = leaf &- 1
        while level >= 0, levels[level].index == 0 { level &-= 1 }
        if level < 0 { return false }
        levels[level].index &-= 1
        try descend(from: level &+ 1, try tree.childNumber(levels[level].page, levels[level].index), toLast: true)
        let first = try tree.node(before, 0)
        guard PageTree.compare(first, try firstKey()) > 0 else { throw PageTree.damaged() }
        try prefetchNeighbour(-1)
        return try enter()
    }

    private mutating func descend(from start: Int, _ number: UInt64, toLast: Bool) throws(LMDBError) {
        var number = number
        for level in start..<tree.depth {
            let page = try tree.page(number, isLeaf: level == leaf)
            let count = PageTree.count(page)
            let index = toLast ? count &- 1 : 0
            (levels + level).initialize(to: Level(page: page, index: index, count: count))
            if level < leaf { number = try tree.childNumber(page, index) }
        }
    }

    /// The first key of the present leaf.
    private func firstKey() throws(LMDBError) -> UnsafeRawBufferPointer {
        let node = try tree.node(levels[leaf].page, 0)
        return UnsafeRawBufferPointer(start: node + PageTree.nodeHeaderSize, count: PageTree.keySize(node))
    }

    /// Has the processor load the leaf that will be next, while this one is looked at.
    private func prefetchNeighbour(_ step: Int) throws(LMDBError) {
        let parent = leaf &- 1
        guard parent >= 0 else { return }
        let index = levels[parent].index &+ step
        guard index >= 0, index < levels[parent].count else { return }
        tree.prefetch(try tree.childNumber(levels[parent].page, index))
    }

    // MARK: The entry

    private var keyNode: UnsafeRawPointer { key.baseAddress.unsafelyUnwrapped - PageTree.nodeHeaderSize }

    /// Reads key and value of the entry at the leaf's index.
    @inline(__always)
    private mutating func enter() throws(LMDBError) -> Bool {
        let page = levels[leaf].page
        let node = try tree.node(page, levels[leaf].index)
        key = UnsafeRawBufferPointer(start: node + PageTree.nodeHeaderSize, count: PageTree.keySize(node))
        value = try tree.value(page, node)
        return true
    }
}
