// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Roost
import RoostTestSupport
import Testing

// Lengths and offsets in a record are 32 bits wide: a list beyond 4 GiB once ended the process.
@Suite struct ValueSizeTests {
    @Entity struct Bag: Equatable {
        var id: Int
        var text: String = ""
        var data: Data = Data()
        var list: [String] = []
        var optionals: [Int?] = []
        var nested: [[String]] = []
        var numbers: [Int] = []
        var maybe: [String]?
        var after: String = "after"
        static let indexes: [Index<Bag>] = [Index(\.after), Index(each: \.list)]
    }

    /// Asserts that the bag is refused by every way of storing it, before anything is written, and that the transaction
    /// goes on.
    private func verifyTooLarge(
        _ bag: Bag, field: String, limit: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try Store.withTemporary(Bag.self) { (store) throws in
            try store.write { tx in
                tx.session.encoder = RecordEncoder(limit: limit)
                try tx.insert(Bag(id: 2))
                let errors = [
                    failure(of: { try tx.insert(bag) }), failure(of: { try tx.upsert(bag) }),
                    failure(of: { try tx.insert(contentsOf: [bag]) }),
                    failure(of: {
                        var bag = bag
                        bag.id = 2
                        try tx.update(bag)
                    }),
                    failure(of: {
                        try tx.update(Bag.self, id: 2) {
                            $0 = bag
                            $0.id = 2
                        }
                    }),
                ]
                for error in errors {
                    #expect(code(error) == .valueTooLarge, "\(error as Any)", sourceLocation: sourceLocation)
                    #expect((error as? StoreError)?.place.field == field, sourceLocation: sourceLocation)
                }
                #expect((errors[0] as? StoreError)?.place.id == "1", sourceLocation: sourceLocation)
                try tx.insert(Bag(id: 3))
            }
            #expect(try store.all(Bag.self) == [Bag(id: 2), Bag(id: 3)], sourceLocation: sourceLocation)
            try #expect(store.lastSequence() == 1, sourceLocation: sourceLocation)
        }
    }

    @Test func everyFieldOfVaryingLengthIsMeasured() throws {
        let long = String(repeating: "x", count: 1_000)
        let limit = 1_000
        try verifyTooLarge(Bag(id: 1, text: long), field: "text", limit: limit)
        try verifyTooLarge(Bag(id: 1, data: Data(count: 1_000)), field: "data", limit: limit)
        try verifyTooLarge(Bag(id: 1, list: [long]), field: "list", limit: limit)
        // Its ends alone are too many.
        try verifyTooLarge(Bag(id: 1, list: Array(repeating: "", count: 250)), field: "list", limit: limit)
        try verifyTooLarge(Bag(id: 1, optionals: Array(repeating: nil, count: 200)), field: "optionals", limit: limit)
        try verifyTooLarge(Bag(id: 1, nested: [["a"], [], [long]]), field: "nested", limit: limit)
        try verifyTooLarge(
            Bag(id: 1, nested: Array(repeating: [], count: 125)), field: "nested", limit: limit)
        try verifyTooLarge(Bag(id: 1, numbers: Array(0..<125)), field: "numbers", limit: limit)
        try verifyTooLarge(Bag(id: 1, maybe: [long]), field: "maybe", limit: limit)
        // Each has its place, all of them together have not.
        let half = String(repeating: "x", count: 500)
        try verifyTooLarge(Bag(id: 1, text: half, maybe: [half]), field: "maybe", limit: limit)
        try verifyTooLarge(Bag(id: 1, text: half, after: half), field: "after", limit: limit)
    }

    @Test func aRecordOfExactlyTheLimitIsStored() throws {
        let size = try encode(Bag(id: 1)).record.count
        for (limit, fits) in [(size + 100, true), (size + 99, false)] {
            try Store.withTemporary(Bag.self) { (store) throws in
                let bag = Bag(id: 1, text: String(repeating: "x", count: 100))
                let error = failure {
                    try store.write { tx in
                        tx.session.encoder = RecordEncoder(limit: limit)
                        try tx.insert(bag)
                    }
                }
                #expect(fits ? error == nil : code(error) == .valueTooLarge)
                #expect(try store.all(Bag.self) == (fits ? [bag] : []))
            }
        }
    }

    /// The real limit, by values that share their memory.
    @Test func listsBeyondFourGiBThrow() throws {
        let long = String(repeating: "x", count: 1 << 26)
        let limit = RecordEncoder.maximumSize
        try verifyTooLarge(Bag(id: 1, list: Array(repeating: long, count: 65)), field: "list", limit: limit)
        try verifyTooLarge(
            Bag(id: 1, nested: Array(repeating: Array(repeating: long, count: 8), count: 9)), field: "nested",
            limit: limit)
        try verifyTooLarge(Bag(id: 1, maybe: Array(repeating: long, count: 32)), field: "maybe", limit: limit)
    }

    /// LMDB's own answer to a value of 2 GiB is "I/O error".
    @Test(.enabled(if: !isSanitized, "a sanitizer allocates less at once")) func twoGiBOfDataThrow() throws {
        try verifyTooLarge(Bag(id: 1, data: Data(count: 1 << 31)), field: "data", limit: RecordEncoder.maximumSize)
    }

    /// The largest record that there can be, written and read. A sanitizer allocates less at once.
    @Test func theLargestRecordIsStored() throws {
        for _ in 0..<(isSanitized ? 0 : repetitions(0, thorough: 1)) {
            try Store.withTemporary(Bag.self) { (store) throws in
                let overhead = try encode(Bag(id: 1)).record.count
                let data = Data(count: RecordEncoder.maximumSize - overhead)
                try store.write { tx in try tx.insert(Bag(id: 1, data: data)) }
                #expect(try store.get(Bag.self, id: 1)?.data == data)
                let error = failure { try store.write { tx in try tx.insert(Bag(id: 2, data: data + Data([1]))) } }
                #expect(code(error) == .valueTooLarge)
            }
        }
    }
}
