// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostLMDB
import Testing

@testable import Roost

struct OptionsTests {
    @Test(arguments: [-5, 0, 1, 65_535, Int.min, Int.max])
    func absurdMaximumSizeIsRefusedBeforeAnythingIsMade(_ size: Int) {
        let place = TemporaryPlace()
        let error = #expect(throws: StoreError.self) {
            try Store.open(at: place.url, options: .init(maximumSize: size), entities: Town.self)
        }
        #expect(error?.code == .invalidOptions)
        #expect(error?.message.contains("\(size)") == true)
        #expect(!FileManager.default.fileExists(atPath: place.url.path))
    }

    @Test(arguments: [0, -1, Int.min, Int.max])
    func absurdReaderLimitIsRefused(_ limit: Int) {
        let place = TemporaryPlace()
        let error = #expect(throws: StoreError.self) {
            try Store.open(at: place.url, options: .init(readerLimit: limit), entities: Town.self)
        }
        #expect(error?.code == .invalidOptions)
    }

    @Test func missingParentIsNamedAndNotMade() {
        let place = TemporaryPlace()
        let url = place.url.appendingPathComponent("deeper/World.roost")
        let error = #expect(throws: StoreError.self) { try Store.open(at: url, entities: Town.self) }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("The directory that is to hold") == true)
        #expect(!FileManager.default.fileExists(atPath: place.url.path))
    }

    @Test func localizedDescriptionIsTheMessage() {
        let error: any Error = StoreError.nestedWrite
        #expect(error.localizedDescription == StoreError.nestedWrite.message)
        #expect((RecordFailure.truncated as any Error).localizedDescription.contains("shorter"))
    }
}
