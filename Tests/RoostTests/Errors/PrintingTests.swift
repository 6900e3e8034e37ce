// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Roost

@Suite("Errors and their parts print as a person would write them") struct PrintingTests {
    /// They were printed as structs with all their fields.
    @Test func aCodeIsItsNameAndAPlaceItsKnownParts() {
        let error = StoreError(
            .damaged, "It is damaged.", entity: "City", id: "42", field: "name", path: "/World.roost")
        #expect("\(error.code)" == "damaged")
        #expect("\(error.place)" == "entity City, object 42, field name, path /World.roost")
        #expect("\(error)" == "It is damaged. [damaged]")
        #expect("\(StoreError(.readOnly, "No.").place)" == "")
        #expect("\(StoreError(.notFound, "No.", path: "/x").place)" == "path /x")
        #expect("\(Diagnostic.Code.longReader)" == "longReader")
        #expect("\(RecordFailure.truncated)" == "The record cannot be read: it is shorter than its layout.")
        #expect(RecordFailure.truncated.localizedDescription == "\(RecordFailure.truncated)")
    }

    @Test func aRepairSaysWhatItDidInALine() throws {
        var report = RepairReport<Town>()
        #expect("\(report)" == "nothing of Town was damaged")
        for id in 1...11 { try id.withKey { report.removed.add($0) } }
        for id in 1...1 { try id.withKey { report.altered.add($0) } }
        report.entriesAdded = 1
        report.entriesRemoved = 2
        #expect(
            "\(report)" == "11 objects of Town removed (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …), 1 object of Town not as "
                + "written (1), 1 index entry added, 2 index entries removed")
    }
}
