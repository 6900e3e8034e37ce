// SPDX-License-Identifier: Apache-2.0

/// What objects are counted or added up to: from each object by itself, and so that one can be taken away again.
protocol Aggregate: Sendable {
    associatedtype Value: Sendable
    static var takesProgramCode: Bool { get }
    /// The fields that it reads.
    var fields: Set<Int> { get }
    /// Reads everything.
    mutating func load(_ context: SnapshotContext, _ binding: EntityBinding, _ request: LoweredRequest) throws
    mutating func count(_ view: RecordView, isAdded: Bool) throws
    /// Takes away an object of which nothing is known but that it counted. Returns false where that does not do.
    mutating func takeAwayUnseen() -> Bool
    var isChanged: Bool { get }
    mutating func take() throws -> Value?
    mutating func follow(_ earlier: Self)
}

extension Aggregate {
    mutating func takeAwayUnseen() -> Bool { false }
}

/// An aggregate of the objects that a predicate matches.
struct MaintainedAggregate<Of: Aggregate>: MaintainedResult {
    static var appliesProgramCode: Bool { false }
    static var takesProgramCode: Bool { Of.takesProgramCode }

    private let binding: EntityBinding
    private let request: LoweredRequest
    private var aggregate: Of
    /// Of the predicate and the aggregate; nil where it may be any.
    private let fields: Set<Int>?
    private let matchesEverything: Bool

    init(_ aggregate: Of, _ binding: EntityBinding, _ request: LoweredRequest) {
        self.aggregate = aggregate
        self.binding = binding
        self.request = request
        fields = request.filter.fields.map { $0.union(aggregate.fields) }
        matchesEverything = request.filter.conjuncts?.isEmpty == true
    }

    mutating func load(_ context: SnapshotContext) throws { try aggregate.load(context, binding, request) }

    mutating func apply(_ key: [UInt8], old: UnsafeRawBufferPointer?, new: UnsafeRawBufferPointer?) throws {
        try key.withUnsafeBytes { key in
            if let old { try count(key, old, isAdded: false) }
            if let new { try count(key, new, isAdded: true) }
        }
    }

    private mutating func count(
        _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, isAdded: Bool
    ) throws {
        try binding.entity.read(key: key, record: record) { view in
            if try request.filter.matches(view) { try aggregate.count(view, isAdded: isAdded) }
        }
    }

    mutating func catchUp(_ row: EntityChanges.Row, isExact: Bool, _ context: SnapshotContext) throws -> Bool {
        guard isExact else { return false }
        if row.isTransient { return true }
        switch row.kind {
        case .inserted:
            try row.key.withUnsafeBytes { key in
                let handle = binding.entity.handle
                if let record = try context.record(handle, key) { try count(key, record, isAdded: true) }
            }
            return true
        case .deleted: return matchesEverything && aggregate.takeAwayUnseen()
        case .updated:
            guard let fields else { return false }
            return !fields.contains(where: row.fields.contains)
        }
    }

    var isChanged: Bool { aggregate.isChanged }
    mutating func take(at sequence: UInt64) throws -> Of.Value? { try aggregate.take() }
    mutating func follow(_ earlier: Self) { aggregate.follow(earlier.aggregate) }
}

/// How many there are; of a window, how many of them.
struct CountOfObjects: Aggregate {
    static let takesProgramCode = false
    private let limit: Int?
    private let offset: Int
    private var count = 0
    private var given: Int?

    init(_ request: LoweredRequest) { (limit, offset) = (request.limit, request.offset) }

    var fields: Set<Int> { [] }
    private var value: Int { min(max(0, count - offset), limit ?? .max) }

    mutating func load(_ context: SnapshotContext, _ binding: EntityBinding, _ request: LoweredRequest) throws {
        let all = LoweredRequest(filter: request.filter, order: RequestedOrder(), limit: nil, offset: nil)
        count = try Planner(context, binding, all, .count).best().count()
    }

    mutating func count(_ view: RecordView, isAdded: Bool) { count += isAdded ? 1 : -1 }

    mutating func takeAwayUnseen() -> Bool {
        count -= 1
        return true
    }

    var isChanged: Bool { value != given }

    mutating func take() -> Int? {
        if !isChanged { return nil }
        given = value
        return given
    }

    mutating func follow(_ earlier: CountOfObjects) { given = earlier.given }
}

/// What a field adds up to.
struct SumOfField<Field: SummableValue>: Aggregate {
    static var takesProgramCode: Bool { false }
    private let position: Int
    private var total = FieldSum()
    private var given: Field.Sum?

    init(position: Int) { self.position = position }

    var fields: Set<Int> { [position] }

    mutating func load(_ context: SnapshotContext, _ binding: EntityBinding, _ request: LoweredRequest) throws {
        var total = FieldSum()
        let position = position
        try context.forEachView(binding, request) { total.add(try $0.value(position), isAdded: true) }
        self.total = total
    }

    mutating func count(_ view: RecordView, isAdded: Bool) throws {
        total.add(try view.value(position), isAdded: isAdded)
    }

    /// One that does not fit in its type is told when it is taken.
    var isChanged: Bool {
        guard let given, let sum = try? Field.sum(total) else { return true }
        // Two that are not a number are no change.
        return sum != given && (sum == sum || given == given)
    }

    mutating func take() throws -> Field.Sum? {
        if !isChanged { return nil }
        given = try Field.sum(total)
        return given
    }

    mutating func follow(_ earlier: SumOfField) { given = earlier.given }
}

/// How many objects have each value of a field.
struct CountsOfValues<Field: FieldValue>: Aggregate {
    static var takesProgramCode: Bool { true }
    private var groups: GroupCounts
    /// By the values' numbers, what has changed of `given`.
    private var changes: [Int: Int] = [:]
    /// What the consumer has; nil before the first.
    private var given: [Field: Int]?
    /// Whether `given` is to be made anew, whatever `changes` says.
    private var isReplaced = false
    private let name: (binding: EntityBinding, position: Int)

    init(position: Int, _ binding: EntityBinding) {
        groups = GroupCounts(position: position)
        name = (binding, position)
    }

    var fields: Set<Int> { [groups.position] }

    mutating func load(_ context: SnapshotContext, _ binding: EntityBinding, _ request: LoweredRequest) throws {
        var loaded = GroupCounts(position: groups.position)
        try context.forEachView(binding, request) { try loaded.count($0, isAdded: true) }
        let earlier = asGiven
        groups = loaded
        replace(earlier)
    }

    /// The groups of which the consumer has been told.
    private var asGiven: GroupCounts {
        var groups = groups
        for (number, change) in changes { groups.revert(number, by: change) }
        return groups
    }

    private mutating func replace(_ earlier: GroupCounts) {
        changes = [:]
        isReplaced = isReplaced || !groups.hasSameCounts(as: earlier)
    }

    mutating func count(_ view: RecordView, isAdded: Bool) throws {
        let number = try groups.count(view, isAdded: isAdded)
        let change = changes[number, default: 0] + (isAdded ? 1 : -1)
        changes[number] = change == 0 ? nil : change
    }

    var isChanged: Bool { given == nil || isReplaced || !changes.isEmpty }

    mutating func take() throws -> [Field: Int]? {
        if !isChanged { return nil }
        let value = try name.binding.namingField(name.position) { try updated() }
        if groups.isSparse { groups.compact() }
        (given, changes, isReplaced) = (value, [:], false)
        return value
    }

    private func updated() throws(RecordFailure) -> [Field: Int] {
        guard var counts = given, !isReplaced else { return try groups.counts(Field.self) }
        for (number, change) in changes {
            let value = try groups.value(number, Field.self)
            // What does not equal itself is not found in a dictionary.
            if value != value { return try groups.counts(Field.self) }
            let count = counts[value, default: 0] + change
            counts[value] = count == 0 ? nil : count
        }
        return counts
    }

    mutating func follow(_ earlier: CountsOfValues) {
        given = earlier.given
        isReplaced = false
        replace(earlier.asGiven)
    }
}
