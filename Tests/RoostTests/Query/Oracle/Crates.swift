// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// An ID whose own order is not the stored one.
struct CrateID: RawRepresentable, EntityID, Comparable {
    var rawValue: UInt16
    static func < (lhs: CrateID, rhs: CrateID) -> Bool { lhs.rawValue > rhs.rawValue }
}

@Entity struct Crate {
    var id: CrateID
    var inner: Ref<Crate>
    var value: Int
    static let indexes: [Index<Crate>] = [Index(\.inner), Index(\.value), Index(\.inner, \.value)]

    static func random(_ count: Int, using random: inout SeededRandom) -> [Crate] {
        (0..<count).map {
            Crate(
                id: CrateID(rawValue: UInt16($0) &* 700), inner: Ref(CrateID(rawValue: UInt16(random.int(0...5)))),
                value: random.int(-2...2))
        }.sorted { $0.id.rawValue < $1.id.rawValue }
    }

    static var criteria: [Criterion<Crate>] {
        [.plain(\.id), .plain(\.id.rawValue), .plain(\.inner.id), .plain(\.value)]
    }

    static func questions(_ objects: [Crate], using random: inout SeededRandom) -> [Question<Crate>] {
        let id = random.pick(objects).id
        let ids = random.several(objects, 0...5).map(\.id)
        let inner = CrateID(rawValue: UInt16(random.int(0...5)))
        let ref = Ref<Crate>(inner)
        let value = random.int(-2...2)
        return [
            Question("id ==", #Predicate { $0.id == id }),
            Question("id <, its own order", #Predicate { $0.id < id }),
            Question("array contains id", #Predicate { ids.contains($0.id) }),
            Question("inner.id ==", #Predicate { $0.inner.id == inner }),
            Question("id.rawValue <", #Predicate { $0.id.rawValue < id.rawValue }),
            Question("inner.id >, its own order", #Predicate { $0.inner.id > inner }),
            Question("inner.id >= and value", #Predicate { $0.value == value && $0.inner.id >= inner }),
            Question("inner == and value", #Predicate { $0.inner == ref && $0.value >= value }),
            Question("everything", nil, by: { _ in true }),
        ]
    }
}

/// An entity with a UUID for an ID.
@Entity struct Ticket {
    var id: UUID
    var value: Int
    var holder: Ref<Ticket>?
    static let indexes: [Index<Ticket>] = [Index(\.value), Index(\.holder)]

    /// In ID order.
    static func random(_ count: Int, using random: inout SeededRandom) -> [Ticket] {
        let ids = (0..<count).map { _ in
            let halves = (random.next(), random.next())
            return withUnsafeBytes(of: halves) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }.sorted { $0.uuidString < $1.uuidString }
        return ids.map { id in
            Ticket(
                id: id, value: random.int(0...3),
                holder: random.chance(40) ? nil : Ref(ids[random.int(0...min(9, count - 1))]))
        }
    }

    static var criteria: [Criterion<Ticket>] { [.plain(\.id), .plain(\.value)] }

    static func questions(_ objects: [Ticket], using random: inout SeededRandom) -> [Question<Ticket>] {
        let id = random.pick(objects).id
        let ids = Set(random.several(objects, 0...9).map(\.id))
        let value = random.int(0...3)
        return [
            Question("id ==", #Predicate { $0.id == id }),
            Question("id <=", #Predicate { $0.id <= id }),
            Question("id > and value", #Predicate { $0.id > id && $0.value == value }),
            Question("set contains id", #Predicate { ids.contains($0.id) }),
            Question("holder ==", #Predicate { $0.holder?.id == id }),
            Question("holder != id", #Predicate { $0.holder?.id != id }),
            Question("holder ?? >", #Predicate { ($0.holder?.id ?? id) > id }),
            Question("holder == nil", #Predicate { $0.holder == nil }),
            Question("value >=", #Predicate { $0.value >= value }),
        ]
    }
}
