// SPDX-License-Identifier: Apache-2.0

/// A commit, or several that were merged, on the way to those who observe the store.
struct CommitRecord: Sendable {
    /// One sequence for a commit of this process; a span for commits that were noticed together or merged.
    let sequences: ClosedRange<UInt64>
    /// Whether other processes' commits are among them.
    let isForeign: Bool
    /// Nil when anything may have changed.
    private(set) var changes: [EntityChanges]?

    init(sequences: ClosedRange<UInt64>, isForeign: Bool, changes: [EntityChanges]?) {
        self.sequences = sequences
        self.isForeign = isForeign
        self.changes = changes
    }

    /// Bytes of memory, without the images.
    var byteCount: Int {
        MemoryLayout<Self>.stride
            + (changes ?? []).reduce(0) { $0 + MemoryLayout<EntityChanges>.stride + $1.rowBytes }
    }

    var imageBytes: Int { (changes ?? []).reduce(0) { $0 + $1.imageBytes } }

    /// Forgets the objects' records. Costs as much as there are entities.
    mutating func dropImages() {
        guard let entities = changes?.indices else { return }
        for entity in entities { changes?[entity].images = nil }
    }
}

/// A subscriber of the bus. Called on the bus's thread, in the order of the commits; must return soon.
protocol CommitSubscriber: AnyObject, Sendable {
    /// Whether it matches commits by the records before and after. The others never get records.
    var wantsImages: Bool { get }
    func receive(_ commit: CommitRecord)
}
