// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

@Entity struct Extreme {
    var id: Int
    var signed: Int
    var unsigned: UInt64
    var token: UUID
    static let indexes: [Index<Extreme>] = [
        Index(\.signed), Index(\.unsigned), Index(\.token), Index(\.signed, \.unsigned),
    ]
}

/// The key of the greatest value is FF alone, above which no key is; the range behind it began at it instead.
@Suite("Nothing is above the greatest value") struct GreatestValueTests {
    private func ids(_ predicate: Predicate<Extreme>, expect expected: [Int]) throws {
        try withTemporaryStore([Extreme.self]) { store in
            try store.write { tx in
                let last = UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
                for id in 0..<300 {
                    try tx.insert(Extreme(id: id, signed: id, unsigned: UInt64(id), token: UUID()))
                }
                try tx.insert(Extreme(id: .max, signed: .max, unsigned: .max, token: last))
            }
            let request = FetchDescriptor(predicate: predicate)
            try store.read { tx in
                let context = tx.context
                for execution in try context.planner(request).all() {
                    let plan = execution.describe()
                    #expect(try context.rows(Extreme.self, execution).map(\.id) == expected, "\(plan)")
                }
            }
            #expect(try store.fetch(request).map(\.id) == expected)
        }
    }

    @Test func ofSignedIntegers() throws {
        let most = Int.max
        try ids(#Predicate { $0.signed > most }, expect: [])
        try ids(#Predicate { $0.signed >= most }, expect: [.max])
        try ids(#Predicate { $0.signed <= most && $0.signed > 298 }, expect: [299, .max])
        try ids(#Predicate { $0.signed == most && $0.unsigned > 300 }, expect: [.max])
    }

    @Test func ofUnsignedIntegers() throws {
        let most = UInt64.max
        try ids(#Predicate { $0.unsigned > most }, expect: [])
        try ids(#Predicate { $0.unsigned >= most }, expect: [.max])
    }

    @Test func ofBoth() throws {
        let (most, unsigned) = (Int.max, UInt64.max)
        try ids(#Predicate { $0.signed == most && $0.unsigned > unsigned }, expect: [])
        try ids(#Predicate { $0.signed == most && $0.unsigned >= unsigned }, expect: [.max])
    }

    @Test func ofUUIDs() throws {
        let last = UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
        try ids(#Predicate { $0.token > last }, expect: [])
        try ids(#Predicate { $0.token >= last }, expect: [.max])
    }

    @Test func ofIDs() throws {
        let most = Int.max
        try ids(#Predicate { $0.id > most }, expect: [])
        try ids(#Predicate { $0.id >= most }, expect: [.max])
    }
}
