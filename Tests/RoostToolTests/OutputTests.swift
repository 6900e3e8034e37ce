// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

@Suite struct OutputTests {
    @Test func jsonKeepsFieldOrderAndEveryDigit() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let run = try await Tool.run("query", store.path, "Specimen", "--json", "--limit", "3")
        let key = "E621E1F8-C36C-495A-93FC-0C247A3E6E5"
        #expect(run.status == 0 && run.errors.isEmpty)
        #expect(
            run.lines == [
                "[",
                #"{"id":1,"name":"beetle","note":null,"flag":true,"small":-128,"large":18446744073709551615,"ratio":0.1,"#
                    + #""score":1.5,"made":"2024-05-31T18:30:00Z","key":"\#(key)1","blob":"3q0=","tags":["red","old"],"#
                    + #""marks":[1,null],"keeper":"ann"},"#,
                #"{"id":2,"name":"bee","note":"a \"quoted\"\nnote","flag":false,"small":0,"large":0,"ratio":"-inf","#
                    + #""score":"nan","made":"2024-05-31T18:30:00.1Z","key":"\#(key)2","blob":"","tags":[],"marks":[],"#
                    + #""keeper":"bob"},"#,
                "{\"id\":3,\"name\":\"E\u{301}phe\u{301}me\u{300}re\",\"note\":\"null\",\"flag\":true,\"small\":127,"
                    + #""large":9007199254740993,"ratio":2.0,"score":null,"made":"2000-12-31T23:59:59.75Z","#
                    + #""key":"\#(key)3","blob":"AA==","tags":["red"],"marks":[2],"keeper":"ann"}"#,
                "]", "",
            ])
        // String's == holds for other spellings of the same text, too.
        #expect(run.output.utf8.elementsEqual(String(run.output).utf8))
        #expect(run.output.unicodeScalars.contains("\u{301}"))
    }

    @Test func noRowsAreAnEmptyArray() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let run = try await Tool.run("query", store.path, "Specimen", "--json", "--where", "id>4")
        #expect(run.output == "[]\n")
    }

    @Test func theTableIsAlignedAndWholeWhenPiped() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("table-\(UUID().uuidString).roost")
        defer { try? FileManager.default.removeItem(at: url) }
        let long = String(repeating: "long", count: 30)
        let store = try await Store.open(at: url, entities: Keeper.self)
        try await store.write { tx in
            try tx.insert(Keeper(id: "a\tb", name: "line\nbreak \u{1B}[31m"))
            try tx.insert(Keeper(id: "語", name: long))
            try tx.insert(Keeper(id: "z", name: "null"))
        }
        try store.close()
        let run = try await Tool.run("query", url.path, "Keeper")
        #expect(run.status == 0 && run.errors.isEmpty)
        #expect(
            run.lines == [
                "id    name",
                "----  " + String(repeating: "-", count: 60),
                #"a\tb  line\nbreak \u{1b}[31m"#,
                "z     null",
                "語    " + long,
                "(3 objects)", "",
            ])
    }

    @Test func aClosedPipeEndsQuietly() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("pipe-\(UUID().uuidString).roost")
        defer { try? FileManager.default.removeItem(at: url) }
        let store = try await Store.open(at: url, entities: Keeper.self)
        // More than a pipe holds.
        let name = String(repeating: "x", count: 1_000)
        try await store.write { tx in
            for number in 0..<1_000 { try tx.insert(Keeper(id: "\(number)", name: name)) }
        }
        try store.close()
        for format in ["", "--json"] {
            let status = try await Tool.shell(
                """
                { "$ROOST" query '\(url.path)' Keeper \(format) 2>'\(url.path)/errors'; \
                echo $? >'\(url.path)/status'; } | head -n 1 >/dev/null
                test ! -s '\(url.path)/errors' && test "$(cat '\(url.path)/status')" = 0
                """)
            #expect(status == 0)
        }
    }

    @Test func aFullDiskIsReported() async throws {
        guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
        let store = try SpecimenStore()
        defer { store.remove() }
        let status = try await Tool.shell(
            "\"$ROOST\" query '\(store.path)' Specimen 2>'\(store.path)/errors' >/dev/full")
        #expect(status == 1)
        let errors = try String(contentsOf: store.url.appendingPathComponent("errors"), encoding: .utf8)
        #expect(errors == "roost: cannot write the output: No space left on device\n")
    }

    @Test func helpAndVersionGoToTheOutput() async throws {
        for arguments in [["--help"], ["-h"], ["help"], ["help", "query"], ["info", "--help"], ["query", "-h"]] {
            let run = try await Tool.run(arguments)
            #expect(run.status == 0 && run.errors.isEmpty && run.output.contains("roost"), "\(arguments)")
        }
        let version = try await Tool.run("--version")
        #expect(version.status == 0 && version.output.hasPrefix("roost 0."))
    }
}
