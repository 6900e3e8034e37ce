// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Roost

@Suite("A failing predicate says where") struct FailurePlaceTests {
    private func failure(of predicate: Predicate<Reading>) throws -> StoreError? {
        try withTemporaryStore([Reading.self]) { store in
            try store.write { tx in
                try tx.insert(
                    Reading(
                        id: 7, value: 0, other: .max, tiny: 1, amount: 1, factor: 1, maybe: nil, list: [], name: "seven"
                    ))
            }
            return #expect(throws: StoreError.self) { try store.count(FetchDescriptor(predicate: predicate)) }
        }
    }

    @Test func theFieldWasNotNamed() throws {
        let error = try failure(of: #Predicate { $0.maybe! == 3 })
        #expect(error?.place.field == "maybe")
        #expect(error?.place.id == "7")
        #expect(error?.message == "The predicate cannot be evaluated on Reading 7 (it reads maybe): it unwraps nil.")
    }

    /// Neighbours share the decoded object, and each still answers for itself.
    @Test func theFieldOfTheFailingConditionIsNamed() throws {
        let error = try failure(of: #Predicate { $0.name.contains("v") && 10 / $0.value == 1 && $0.maybe! == 3 })
        #expect(error?.place.field == "value")
    }

    @Test func ofSeveralFieldsNoneIsSingledOut() throws {
        let error = try failure(of: #Predicate { $0.other + $0.id > 0 })
        #expect(error?.place.field == nil)
        #expect(error?.message.contains("(it reads other, id)") == true)
    }
}
