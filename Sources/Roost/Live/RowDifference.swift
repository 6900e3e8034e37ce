// SPDX-License-Identifier: Apache-2.0

/// Makes a difference of the rows that may differ, in as many steps as they are.
struct RowDifference {
    private var removes: [Int] = []
    private var inserts: [Int] = []
    private var updates: [LiveDifference.Shift] = []
    /// Rows of both results whose keys differ: they may have moved among the others.
    private var shifted: [LiveDifference.Shift] = []

    /// A row's place in the old result and in the new.
    mutating func add(old: Int?, new: Int?, hasOtherKey: Bool, hasOtherVersion: Bool) {
        switch (old, new) {
        case (nil, nil): break
        case (let old?, nil): removes.append(old)
        case (nil, let new?): inserts.append(new)
        case (let old?, let new?):
            let shift = LiveDifference.Shift(from: old, to: new)
            if hasOtherVersion { updates.append(shift) }
            if hasOtherKey { shifted.append(shift) }
        }
    }

    consuming func difference() -> LiveDifference {
        let moves = moves()
        return LiveDifference(
            removes: removes.sorted(by: >), inserts: inserts.sorted(), moves: moves,
            updates: updates.sorted { $0.to < $1.to })
    }

    /// Those that cannot stay where they are among the rows that do: all but a longest series whose order is the same
    /// before and after, and that has as many unshifted rows before it.
    private func moves() -> [LiveDifference.Shift] {
        if shifted.isEmpty { return [] }
        let loose = (old: (removes + shifted.map(\.from)).sorted(), new: (inserts + shifted.map(\.to)).sorted())
        var candidates: [LiveDifference.Shift] = []
        var moves: [LiveDifference.Shift] = []
        for shift in shifted.sorted(by: { $0.from < $1.from }) {
            let before = shift.from - loose.old.count(below: shift.from)
            let after = shift.to - loose.new.count(below: shift.to)
            if before == after { candidates.append(shift) } else { moves.append(shift) }
        }
        // The longest series of rising new positions: `ends` has the last of the best series of each length.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: candidates.count)
        for (index, candidate) in candidates.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if candidates[ends[middle]].to < candidate.to { low = middle + 1 } else { high = middle }
            }
            previous[index] = low > 0 ? ends[low - 1] : -1
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var stays = [Bool](repeating: false, count: candidates.count)
        var index = ends.last ?? -1
        while index >= 0 {
            stays[index] = true
            index = previous[index]
        }
        for (index, candidate) in candidates.enumerated() where !stays[index] { moves.append(candidate) }
        return moves.sorted { $0.to < $1.to }
    }
}

extension [Int] {
    /// In an ascending array.
    fileprivate func count(below value: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
