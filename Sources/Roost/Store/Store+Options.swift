// SPDX-License-Identifier: Apache-2.0

extension Store {
    /// How a store is opened. Everyone in a process who opens one file must use the same options.
    public struct Options: Sendable, Equatable {
        /// How much a commit waits for the disk.
        public var durability: Durability
        /// Bytes that objects, indexes and the history may take together: from 64 KiB to 64 TiB. A transaction that stores
        /// an object and would leave more in use throws `storeFull`; one that only deletes never does for that, so a store
        /// that holds more can be read, and emptied until it fits. The file itself may be larger, by a sixteenth and at
        /// least 1 MiB, and more where old snapshots are still read. Nil leaves it at 1 TiB of address space, or what the
        /// system grants. Other processes have limits of their own.
        public var maximumSize: Int?
        /// Opens an existing store without the right to change it.
        public var isReadOnly: Bool
        /// How many reads may run at once; more wait for a place. From 1 to 10,000.
        public var readerLimit: Int

        /// The defaults: full durability, the largest map, 32 readers.
        public init(
            durability: Durability = .full, maximumSize: Int? = nil, isReadOnly: Bool = false, readerLimit: Int = 32
        ) {
            self.durability = durability
            self.maximumSize = maximumSize
            self.isReadOnly = isReadOnly
            self.readerLimit = readerLimit
        }
    }
}

extension Store.Options {
    static let sizes = 1 << 16...1 << 46
    static let readerLimits = 1...10_000

    /// Throws `invalidOptions` for values that cannot be meant.
    func verify() throws(StoreError) {
        if let maximumSize, !Self.sizes.contains(maximumSize) {
            throw StoreError(
                .invalidOptions,
                "Store.Options.maximumSize is \(maximumSize): it must be from \(Self.sizes.lowerBound) to "
                    + "\(Self.sizes.upperBound) bytes.")
        }
        guard Self.readerLimits.contains(readerLimit) else {
            throw StoreError(
                .invalidOptions,
                "Store.Options.readerLimit is \(readerLimit): it must be from \(Self.readerLimits.lowerBound) to "
                    + "\(Self.readerLimits.upperBound).")
        }
    }
}
