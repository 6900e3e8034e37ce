// SPDX-License-Identifier: Apache-2.0

/// How many objects have each value of a field: by the values' sort keys, so that what Swift's `==` calls equal is
/// one, and all NaNs are one. Counting an object allocates nothing but for a value that is new.
struct GroupCounts: Sendable {
    private struct Group {
        var count = 0
        /// The value as a record has it; nil is nil.
        let stored: [UInt8]?
    }

    let position: Int
    private var table = KeyTable()
    private var groups: [Group] = []
    private var emptyCount = 0
    private var key = KeyBytes()

    init(position: Int) { self.position = position }

    /// Counts an object, or takes it away again. Returns the value's number.
    @discardableResult
    mutating func count(_ view: RecordView, isAdded: Bool) throws(RecordFailure) -> Int {
        key.removeAll()
        try key.append(sortKeyOf: position, view, descending: false)
        let (number, isNew) = key.withUnsafeBytes { table.insert($0) }
        if isNew {
            groups.append(Group(stored: view.isNull(position) ? nil : Array(try view.bytes(position))))
            emptyCount += 1
        }
        if groups[number].count == 0 { emptyCount -= 1 }
        groups[number].count += isAdded ? 1 : -1
        if groups[number].count == 0 { emptyCount += 1 }
        return number
    }

    func value<Value: FieldValue>(_ number: Int, _: Value.Type) throws(RecordFailure) -> Value {
        guard let stored = groups[number].stored else {
            guard let null = Value.null else { throw .unexpectedNull }
            return null
        }
        return try withoutActuallyThrowing { try stored.withUnsafeBytes { try Value.load($0) } }
    }

    private func withoutActuallyThrowing<Value>(_ body: () throws -> Value) throws(RecordFailure) -> Value {
        do { return try body() } catch { throw error as? RecordFailure ?? .invalidValue }
    }

    /// The values that some object has, each with their number. Runs the program's code, where the type has some.
    func counts<Value: FieldValue>(_: Value.Type) throws(RecordFailure) -> [Value: Int] {
        var counts: [Value: Int] = [:]
        counts.reserveCapacity(groups.count - emptyCount)
        for number in groups.indices where groups[number].count != 0 {
            counts[try value(number, Value.self), default: 0] += groups[number].count
        }
        return counts
    }

    /// Takes back what was counted of a value.
    mutating func revert(_ number: Int, by count: Int) {
        if groups[number].count == 0 { emptyCount -= 1 }
        groups[number].count -= count
        if groups[number].count == 0 { emptyCount += 1 }
    }

    /// Whether every value has as many objects.
    func hasSameCounts(as other: GroupCounts) -> Bool {
        guard groups.count - emptyCount == other.groups.count - other.emptyCount else { return false }
        return groups.indices.allSatisfy { number in
            if groups[number].count == 0 { return true }
            return table.withKey(number) { other.table.position(of: $0) }.map {
                other.groups[$0].count == groups[number].count
            } ?? false
        }
    }

    /// Whether most of what is kept are values that no object has any more.
    var isSparse: Bool { emptyCount > 64 && emptyCount > groups.count / 2 }

    /// Forgets the values that no object has. The numbers of the others change.
    mutating func compact() {
        var kept = KeyTable()
        var left: [Group] = []
        for number in groups.indices where groups[number].count != 0 {
            _ = table.withKey(number) { kept.insert($0) }
            left.append(groups[number])
        }
        (table, groups, emptyCount) = (kept, left, 0)
    }
}
