// SPDX-License-Identifier: Apache-2.0

extension FileProbe {
    /// Throws when a page that is in use lies beyond the end of the file, where reading it through the map would kill the
    /// process. Reads every page in use: only for files that are shorter than their page count.
    func verifyExtent(_ newest: Meta) throws(Finding) {
        // No page has two parents, so a walk that sees more pages than there are goes in circles.
        var budget = Int(newest.lastPage) + 1
        var waiting: [UInt64] = []
        if newest.freeDepth > 0 { waiting.append(newest.freeRoot) }
        if newest.depth > 0 { waiting.append(newest.root) }
        while let number = waiting.popLast() {
            budget -= 1
            guard budget >= 0 else { throw .damaged("page \(number) is in use twice") }
            let page = Page(number: number, bytes: try page(number, newest))
            guard page.lower >= Self.pageHeaderSize, page.lower <= page.bytes.count else {
                throw .damaged("page \(number) has a bad header")
            }
            for index in 0..<page.count {
                let node = try page.node(index)
                if page.flags & Self.branchPage != 0 {
                    waiting.append(node.child)
                    continue
                }
                guard page.flags & Self.leafPage != 0 else { throw .damaged("page \(number) is of the wrong kind") }
                let value = node.key.upperBound
                if node.flags & Self.bigData != 0 {
                    guard value + 8 <= page.bytes.count else { throw .damaged("page \(number) has a bad entry") }
                    try verifyOverflow(page.bytes.load(at: value, as: UInt64.self), newest)
                } else if node.flags & Self.subDatabase != 0 {
                    guard value + 48 <= page.bytes.count else { throw .damaged("page \(number) has a bad entry") }
                    let depth = page.bytes.load(at: value + 6, as: UInt16.self)
                    if depth > 0 { waiting.append(page.bytes.load(at: value + 40, as: UInt64.self)) }
                }
            }
        }
    }

    /// A large value's pages: the first says how many there are.
    private func verifyOverflow(_ first: UInt64, _ newest: Meta) throws(Finding) {
        let count = UInt64(try page(first, newest).load(at: 12, as: UInt32.self))
        guard count > 0, first + count - 1 <= newest.lastPage, (Int(first) + Int(count)) * newest.pageSize <= length
        else {
            throw .damaged("the file ends at byte \(length), before the end of the value on page \(first)")
        }
    }
}
