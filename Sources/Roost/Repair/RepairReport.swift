// SPDX-License-Identifier: Apache-2.0

extension Store {
    /// Kinds of damage to an object's record, by whether it can be read and whether it is as it was written, which its
    /// checksum tells.
    public struct Damage: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// It cannot be read, and is not what was written: the object is lost.
        public static let lost = Damage(rawValue: 1)
        /// It cannot be read, but is as it was written: it holds a value that this program's declaration does not know, and
        /// another version of the program may be able to read it.
        public static let unknown = Damage(rawValue: 2)
        /// It can be read, but is not what was written: some of its values may be others.
        public static let altered = Damage(rawValue: 4)
    }
}

/// What `Store.repair` has found and done.
public struct RepairReport<T: Entity>: Sendable {
    /// Some objects: all are counted, the first 10,000 are named.
    public struct Objects: Sendable {
        /// How many there are.
        public private(set) var count = 0
        /// Their IDs, from the keys of their records; text in its normal form, which is equal to what was stored. Those whose
        /// key is no ID are only counted.
        public private(set) var ids: [T.ID] = []

        static var mostNamed: Int { 10_000 }

        mutating func add(_ key: UnsafeRawBufferPointer) {
            count += 1
            if ids.count < Self.mostNamed, let id = try? T.ID.load(key: key) { ids.append(id) }
        }
    }

    /// Objects that were removed.
    public internal(set) var removed = Objects()
    /// Objects that cannot be read and are still there: those of the kinds that were not to be removed.
    public internal(set) var unreadable = Objects()
    /// Objects that can be read, though they are not what was written, and are still there.
    public internal(set) var altered = Objects()
    /// Index entries that belonged to no object, or to one with other values, and were removed. Those of removed objects
    /// are not counted.
    public internal(set) var entriesRemoved = 0
    /// Index entries that were missing, and were added.
    public internal(set) var entriesAdded = 0
}

extension RepairReport: CustomStringConvertible {
    /// A line for logs: `2 objects of City removed (17, 42), 1 index entry added`, or that nothing was damaged.
    public var description: String {
        func some(_ count: Int, _ one: String, _ many: String, _ done: String) -> String? {
            count == 0 ? nil : "\(count) \(count == 1 ? one : many) \(done)"
        }
        func some(_ objects: Objects, _ done: String) -> String? {
            guard let text = some(objects.count, "object of \(T.entityName)", "objects of \(T.entityName)", done) else {
                return nil
            }
            let ids = objects.ids.prefix(10).map { "\($0)" } + (objects.count > 10 ? ["…"] : [])
            return ids.isEmpty ? text : "\(text) (\(ids.joined(separator: ", ")))"
        }
        let parts = [
            some(removed, "removed"), some(unreadable, "unreadable"), some(altered, "not as written"),
            some(entriesAdded, "index entry", "index entries", "added"),
            some(entriesRemoved, "index entry", "index entries", "removed"),
        ].compactMap(\.self)
        return parts.isEmpty ? "nothing of \(T.entityName) was damaged" : parts.joined(separator: ", ")
    }
}
