// SPDX-License-Identifier: Apache-2.0

/// Who is concerned by a commit: found from the changed objects, not by asking everybody.
///
/// Subscribers are registered under what they say of an ID or a field (`ChangeInterest`). A changed object is looked up by its
/// ID, and for each field that somebody has registered under, by the value before and after: among equal values in a hash
/// table, among ranges in an `IntervalIndex`. Those who are interested in every change of an entity are told of each. Those to
/// whom no commit makes a difference, since they are to look at the store anyway, are asleep, and not found.
///
/// A commit costs as much as it has changed objects times fields that somebody is registered under, and whom it finds.
/// Registering costs O(log n) on average for each anchor.
struct ChangeRoutes {
    /// A subscriber's number; never used again.
    typealias Member = Int

    private struct Entry {
        let subscriber: any CommitSubscriber
        let interest: ChangeInterest
    }

    /// Those who are awake: only they are found.
    private var subscribers: [Member: Entry] = [:]
    /// Everybody; nil for those who are asleep.
    private var members: [ObjectIdentifier: Member?] = [:]
    private var lastMember = 0
    /// Who is told of every commit.
    private var everything: Set<Member> = []
    private var entities: [Int: EntityRoutes] = [:]

    var isEmpty: Bool { members.isEmpty }
    var count: Int { members.count }

    /// Returns false where it is there already.
    mutating func add(_ subscriber: any CommitSubscriber) -> Bool {
        guard members[ObjectIdentifier(subscriber)] == nil else { return false }
        members[ObjectIdentifier(subscriber)] = .some(nil)
        if !subscriber.isAsleep { wake(subscriber) }
        return true
    }

    /// Returns false where it is not there.
    mutating func remove(_ subscriber: any CommitSubscriber) -> Bool {
        guard let member = members.removeValue(forKey: ObjectIdentifier(subscriber)) else { return false }
        if let member { unregister(member) }
        return true
    }

    /// Has one who is there found by its present interest, unless it was found before.
    mutating func wake(_ subscriber: any CommitSubscriber) {
        guard let member = members[ObjectIdentifier(subscriber)], member == nil else { return }
        lastMember += 1
        members[ObjectIdentifier(subscriber)] = .some(lastMember)
        let interest = subscriber.interest
        subscribers[lastMember] = Entry(subscriber: subscriber, interest: interest)
        guard let anchored = interest.entities else {
            everything.insert(lastMember)
            return
        }
        for (entity, anchors) in anchored {
            entities[entity.number, default: EntityRoutes(entity)].add(lastMember, anchors)
        }
    }

    /// Has one who is there found by its present interest.
    mutating func register(_ subscriber: any CommitSubscriber) {
        guard let member = members[ObjectIdentifier(subscriber)], let member else { return }
        unregister(member)
        members[ObjectIdentifier(subscriber)] = .some(nil)
        wake(subscriber)
    }

    /// Has those not found any more who are asleep.
    mutating func putToSleep(_ subscribers: some Sequence<any CommitSubscriber>) {
        for subscriber in subscribers where subscriber.isAsleep {
            guard let member = members[ObjectIdentifier(subscriber)], let member else { continue }
            unregister(member)
            members[ObjectIdentifier(subscriber)] = .some(nil)
        }
    }

    private mutating func unregister(_ member: Member) {
        guard let interest = subscribers.removeValue(forKey: member)?.interest else { return }
        guard let anchored = interest.entities else {
            everything.remove(member)
            return
        }
        for (entity, anchors) in anchored {
            entities[entity.number]?.remove(member, anchors)
            if entities[entity.number]?.isEmpty == true { entities[entity.number] = nil }
        }
    }

    // MARK: Finding

    /// Who a commit concerns, gathered in pieces.
    struct Found {
        /// Beyond so many rows, subscribers are told that any may concern them.
        static let rowLimit = 1 << 20

        fileprivate var members: [Member: [Int: [Int]]] = [:]
        var isEmpty: Bool { members.isEmpty }
        fileprivate var rowCount = 0
        /// By entity: the positions whose members have all been found already, since a value was not known.
        fileprivate var exhausted: [Int: Set<Int>] = [:]

        /// A row of an entity; nil is any of its rows.
        fileprivate mutating func insert(_ member: Member, _ row: Int?, of entity: Int) {
            guard let row, rowCount < Self.rowLimit else {
                // An entity that is not named means any.
                members[member, default: [:]][entity] = Self.anyRow
                return
            }
            let last = members[member]?[entity]?.last
            if last == row || last == -1 { return }
            members[member, default: [:]][entity, default: []].append(row)
            rowCount += 1
        }

        fileprivate static let anyRow = [-1]
    }

    /// Those who are told without a look at the rows: of every commit, of this entity, or since it is not known what changed.
    func find(_ commit: CommitRecord, in found: inout Found) {
        guard let changes = commit.changes else {
            for member in subscribers.keys { found.members[member] = [:] }
            return
        }
        for member in everything { found.members[member] = [:] }
        for changed in changes {
            guard let routes = entities[changed.entity] else { continue }
            routes.find(changed, in: &found)
        }
    }

    /// Those who are concerned by some of the rows.
    func find(_ rows: Range<Int>, of changes: EntityChanges, in found: inout Found) {
        entities[changes.entity]?.find(rows, of: changes, in: &found)
    }

    /// The subscribers, each with the rows that may concern it.
    func subscribers(_ found: Found) -> [(subscriber: any CommitSubscriber, rows: [Int: [Int]])] {
        found.members.compactMap { member, rows in
            guard let entry = subscribers[member] else { return nil }
            return (entry.subscriber, rows.filter { $0.value != Found.anyRow })
        }
    }
}

/// The subscribers of one entity's changes.
private struct EntityRoutes {
    /// Those who are registered under values of one field.
    private struct Position {
        var values: [[UInt8]: Members] = [:]
        private(set) var ranges = IntervalIndex()
        /// With how many ranges.
        private(set) var members: [ChangeRoutes.Member: Int] = [:]

        mutating func insert(_ member: ChangeRoutes.Member, under keys: [[UInt8]]) {
            members[member, default: 0] += 0
            values.insert(member, under: keys)
        }

        mutating func insert(_ interval: IntervalIndex.Interval) {
            members[interval.owner, default: 0] += 1
            ranges.insert(interval)
        }

        /// Removes it from all but the values. Returns whether nobody is left.
        mutating func remove(_ member: ChangeRoutes.Member) -> Bool {
            if let count = members.removeValue(forKey: member), count > 0 {
                ranges.remove(owner: member, ranges: count)
            }
            return members.isEmpty
        }
    }

    private let entity: StoredEntity
    private var all: Set<ChangeRoutes.Member> = []
    private var ids: [[UInt8]: Members] = [:]
    private var positions: [Int: Position] = [:]
    /// Everybody.
    private var members: Set<ChangeRoutes.Member> = []

    init(_ entity: StoredEntity) { self.entity = entity }

    var isEmpty: Bool { members.isEmpty }

    mutating func add(_ member: ChangeRoutes.Member, _ anchors: [ChangeInterest.Anchor]) {
        members.insert(member)
        for anchor in anchors {
            switch anchor {
            case .all: all.insert(member)
            case .ids(let keys): ids.insert(member, under: keys)
            case .values(let position, let keys):
                positions[position, default: Position()].insert(member, under: keys)
            case .range(let position, let lower, let upper):
                positions[position, default: Position()].insert(
                    IntervalIndex.Interval(lower: lower, upper: upper, owner: member))
            }
        }
    }

    mutating func remove(_ member: ChangeRoutes.Member, _ anchors: [ChangeInterest.Anchor]) {
        members.remove(member)
        for anchor in anchors {
            switch anchor {
            case .all: all.remove(member)
            case .ids(let keys): ids.remove(member, under: keys)
            case .values(let position, let keys): positions[position]?.values.remove(member, under: keys)
            case .range: break
            }
        }
        // By the anchors' own positions: going through the table would hold a copy of it.
        for anchor in anchors {
            guard let position = anchor.position else { continue }
            if positions[position]?.remove(member) == true { positions[position] = nil }
        }
    }

    // MARK: Finding

    func find(_ changes: EntityChanges, in found: inout ChangeRoutes.Found) {
        if changes.isComplete {
            for member in all { found.insert(member, nil, of: entity.number) }
        } else {
            for member in members { found.insert(member, nil, of: entity.number) }
        }
    }

    func find(_ rows: Range<Int>, of changes: EntityChanges, in found: inout ChangeRoutes.Found) {
        guard changes.isComplete else { return }
        let number = entity.number
        var key = KeyBytes()
        for row in rows {
            let changed = changes.rows[row]
            ids[changed.key]?.forEach { found.insert($0, row, of: number) }
            for (position, routes) in positions where found.exhausted[number]?.contains(position) != true {
                let isKnown = forEachValue(of: position, row, changes, &key) { value in
                    routes.values[value]?.forEach { found.insert($0, row, of: number) }
                    routes.ranges.forEachOwner(of: value) { found.insert($0, row, of: number) }
                }
                if isKnown { continue }
                for member in routes.members.keys { found.insert(member, nil, of: number) }
                found.exhausted[number, default: []].insert(position)
            }
        }
    }

    /// Calls `body` with the field's sort key before and after. Returns false where one of them is not known.
    private func forEachValue(
        of position: Int, _ row: Int, _ changes: EntityChanges, _ key: inout KeyBytes, _ body: ([UInt8]) -> Void
    ) -> Bool {
        let changed = changes.rows[row]
        if case .key = entity.layout.fields[position].location {
            body(changed.key)
            return true
        }
        return changes.withImages(of: row) { old, new in
            /// False where there is no image, or one that cannot be read.
            func give(_ image: UnsafeRawBufferPointer?) -> Bool {
                guard let image else { return false }
                key.removeAll()
                do {
                    try changed.key.withUnsafeBytes { id in
                        let view = try RecordView(key: id, record: image, layout: entity.layout)
                        try key.append(sortKeyOf: position, view, descending: false)
                    }
                } catch { return false }
                body(key.bytes)
                return true
            }
            switch changed.kind {
            case .inserted: return give(new)
            case .deleted: return give(old)
            case .updated:
                guard give(new) else { return false }
                // What did not change is the same before.
                return changed.fields.contains(position) ? give(old) : true
            }
        }
    }
}

/// One or several members.
private enum Members {
    case one(ChangeRoutes.Member)
    case several(Set<ChangeRoutes.Member>)

    mutating func insert(_ member: ChangeRoutes.Member) {
        switch self {
        case .one(let other): if other != member { self = .several([other, member]) }
        case .several(var all):
            // Taken out while it is changed, so that nothing is copied.
            self = .one(member)
            all.insert(member)
            self = .several(all)
        }
    }

    /// Returns whether there is nobody any more.
    mutating func remove(_ member: ChangeRoutes.Member) -> Bool {
        switch self {
        case .one(let other): return other == member
        case .several(var all):
            self = .one(member)
            all.remove(member)
            self = .several(all)
            return all.isEmpty
        }
    }

    func forEach(_ body: (ChangeRoutes.Member) -> Void) {
        switch self {
        case .one(let member): body(member)
        case .several(let members): members.forEach(body)
        }
    }
}

extension [[UInt8]: Members] {
    fileprivate mutating func insert(_ member: ChangeRoutes.Member, under keys: [[UInt8]]) {
        for key in keys {
            if self[key] == nil { self[key] = .one(member) } else { self[key]?.insert(member) }
        }
    }

    fileprivate mutating func remove(_ member: ChangeRoutes.Member, under keys: [[UInt8]]) {
        for key in keys where self[key]?.remove(member) == true { self[key] = nil }
    }
}
