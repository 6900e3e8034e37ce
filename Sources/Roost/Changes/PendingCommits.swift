// SPDX-License-Identifier: Apache-2.0

/// Commits that wait, in order, in a bounded number of bytes.
///
/// Within the limits each waits for itself. Beyond them the oldest lose their records first, and are then merged into one,
/// which waits before the others: however long nobody takes them, the last change of every object is named, or it is said that
/// any may have changed.
struct PendingCommits: Sendable {
    static let commitLimit = 1_000

    struct Limits: Sendable {
        /// How many wait each for itself.
        var commits = PendingCommits.commitLimit
        /// Of the merged ones, and of all together.
        var merged = MergedChanges.Limits()
        /// Of the objects' records.
        var imageBytes = 64 << 20
    }

    private let limits: Limits
    private var merged: MergedChanges?
    private var single: [CommitRecord] = []
    /// Where the first in `single` is that waits, and the first that may have images.
    private var first = 0
    private var firstWithImages = 0
    private var singleBytes = 0
    private(set) var imageBytes = 0

    init(limits: Limits = Limits()) { self.limits = limits }

    var isEmpty: Bool { count == 0 }
    /// How many times `next` gives something.
    var count: Int { single.count - first + (merged == nil ? 0 : 1) }
    /// Bytes of memory, without the images.
    var byteCount: Int { singleBytes + (merged?.byteCount ?? 0) }

    /// Costs as much as the commit has changes, however many wait.
    mutating func append(_ commit: CommitRecord) {
        single.append(commit)
        singleBytes += commit.byteCount
        imageBytes += commit.imageBytes
        while imageBytes > limits.imageBytes, firstWithImages < single.count {
            imageBytes -= single[firstWithImages].imageBytes
            single[firstWithImages].dropImages()
            firstWithImages += 1
        }
        while single.count - first > limits.commits || (byteCount > limits.merged.bytes && first < single.count) {
            guard let oldest = takeSingle() else { break }
            if merged == nil {
                merged = MergedChanges(oldest, limits: limits.merged)
            } else {
                merged?.merge(oldest)
            }
        }
    }

    /// The next commit to be dealt with, which does not wait any more.
    mutating func next() -> CommitRecord? {
        if let merged {
            self.merged = nil
            return merged.record
        }
        return takeSingle()
    }

    private mutating func takeSingle() -> CommitRecord? {
        guard first < single.count else { return nil }
        let commit = single[first]
        // Its memory is free at once, its place in the array now and then.
        single[first] = CommitRecord(sequences: commit.sequences, isForeign: false, changes: [])
        first += 1
        firstWithImages = max(firstWithImages, first)
        singleBytes -= commit.byteCount
        imageBytes -= commit.imageBytes
        if first == single.count || first > 1_024 {
            single.removeFirst(first)
            firstWithImages -= first
            first = 0
        }
        return commit
    }
}
