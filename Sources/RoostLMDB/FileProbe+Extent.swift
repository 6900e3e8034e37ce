// SPDX-License-Identifier: Apache-2.0

extension FileProbe {
    /// Throws when a page that is in use lies beyond the end of the file, where reading it through the map would kill the
    /// process. Reads every page in use: only for files that are shorter than their page count.
    func verifyExtent(_ meta: Meta) throws(Finding) {
        // No page has two parents, so a walk that sees more pages than there are goes in circles.
        var budget = Int(meta.lastPage) + 1
        if meta.freeDepth > 0 { try walk(meta.freeRoot, meta, &budget) }
        if meta.depth > 0 { try walk(meta.root, meta, &budget) }
    }

    private func walk(_ root: UInt64, _ meta: Meta, _ budget: inout Int) throws(Finding) {
        var waiting = [root]
        while let number = waiting.popLast() {
            let page = try page(number, meta, &budget)
            let flags = page.load(at: 10, as: UInt16.self)
            let lower = Int(page.load(at: 12, as: UInt16.self))
            guard lower >= Self.pageHeaderSize, lower <= page.count else {
                throw .damaged("page \(number) has a bad header")
            }
            for index in 0..<(lower - Self.pageHeaderSize) / 2 {
                let node = Int(page.load(at: Self.pageHeaderSize + 2 * index, as: UInt16.self))
                guard node >= lower, node + 8 <= page.count else { throw .damaged("page \(number) has a bad entry") }
                let low = UInt64(page.load(at: node, as: UInt16.self))
                let high = UInt64(page.load(at: node + 2, as: UInt16.self))
                let nodeFlags = page.load(at: node + 4, as: UInt16.self)
                if flags & Self.branchPage != 0 {
                    waiting.append(low | high << 16 | UInt64(nodeFlags) << 32)
                    continue
                }
                guard flags & Self.leafPage != 0 else { throw .damaged("page \(number) is of the wrong kind") }
                let value = node + 8 + Int(page.load(at: node + 6, as: UInt16.self))
                if nodeFlags & Self.bigData != 0 {
                    guard value + 8 <= page.count else { throw .damaged("page \(number) has a bad entry") }
                    let first = page.load(at: value, as: UInt64.self)
                    let large = try self.page(first, meta, &budget)
                    let count = UInt64(large.load(at: 12, as: UInt32.self))
                    guard count > 0, first + count - 1 <= meta.lastPage else {
                        throw .damaged("page \(first) is of the wrong kind")
                    }
                    try verifyInside(first + count - 1, meta)
                } else if nodeFlags & Self.subDatabase != 0 {
                    guard value + 48 <= page.count else { throw .damaged("page \(number) has a bad entry") }
                    if page.load(at: value + 6, as: UInt16.self) > 0 {
                        waiting.append(page.load(at: value + 40, as: UInt64.self))
                    }
                }
            }
        }
    }

    private func page(_ number: UInt64, _ meta: Meta, _ budget: inout Int) throws(Finding) -> [UInt8] {
        guard number >= 2, number <= meta.lastPage, budget > 0 else {
            throw .damaged("page \(number) is outside the file or in use twice")
        }
        budget -= 1
        try verifyInside(number, meta)
        return try read(at: Int(number) * meta.pageSize, count: meta.pageSize)
    }

    private func verifyInside(_ number: UInt64, _ meta: Meta) throws(Finding) {
        guard (Int(number) + 1) * meta.pageSize <= length else {
            throw .damaged("the file ends at byte \(length), before page \(number), which is in use")
        }
    }
}
