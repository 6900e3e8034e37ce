// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import RoostLMDB
import Testing

/// Each mistake gives one line that says what and where, its exit code, and leaves every byte and time as it was.
@Suite struct BadInputTests {
    private func expectFailure(
        _ arguments: [String], _ status: Int32, saying parts: String..., at path: String,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try FolderState(path)
        let run = try await Tool.run(arguments)
        #expect(run.status == status, "\(arguments) \(run.errors)", sourceLocation: location)
        #expect(run.output.isEmpty, sourceLocation: location)
        let lines = run.errors.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 2 && lines.last == "", "\(run.errors)", sourceLocation: location)
        #expect(run.errors.hasPrefix("roost: "), sourceLocation: location)
        for part in parts {
            #expect(run.errors.contains(part), "\(part) in \(run.errors)", sourceLocation: location)
        }
        #expect(try FolderState(path) == before, "something changed on disk", sourceLocation: location)
    }

    // MARK: Arguments

    @Test func mistakesInTheCommandLine() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let path = store.path
        let query = ["query", path, "Specimen"]
        let cases: [([String], String)] = [
            ([], "a command is missing"), (["look"], "unknown command \"look\""), (["--look"], "unknown option"),
            (["info"], "info takes one operand"), (["info", path, path], "info takes one operand"),
            (["info", path, "--fast"], "unknown option \"--fast\""), (["info", path, "--json=1"], "takes no value"),
            (["info", path, "--limit", "1"], "unknown option \"--limit\""),
            (["query", path], "query takes two operands"), (query + ["more"], "query takes two operands"),
            (query + ["--where"], "--where needs a value"), (query + ["--where", "name"], "is not FIELD=VALUE"),
            (query + ["--where", "=bee"], "is not FIELD=VALUE"),
            (query + ["--where", "name!bee"], "is not FIELD=VALUE"),
            (query + ["--sort", "name:down"], "is not FIELD, FIELD:asc or FIELD:desc"),
            (query + ["--limit", "many"], "--limit \"many\""), (query + ["--limit=-1"], "--limit \"-1\""),
            (query + ["--limit", "1", "--limit", "2"], "given twice"), (query + ["--json", "--json"], "given twice"),
            (query + ["--offset"], "--offset needs a value"), (["help", "me"], "no help on"),
            (["--version", "please"], "takes no arguments"),
        ]
        for (arguments, part) in cases { try await expectFailure(arguments, 2, saying: part, at: path) }
    }

    @Test func unknownNames() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        try await expectFailure(
            ["query", store.path, "Beast"], 2, saying: "no type \"Beast\": it has Keeper, Specimen", store.path,
            at: store.path)
        try await expectFailure(
            ["query", store.path, "Two\nlines"], 2, saying: #"no type "Two\nlines":"#, at: store.path)
        try await expectFailure(
            ["query", store.path, "Keeper", "--where", "age=3"], 2,
            saying: "Keeper has no field \"age\": it has id, name", at: store.path)
        try await expectFailure(
            ["query", store.path, "Keeper", "--sort", "age:desc"], 2, saying: "Keeper has no field \"age\"",
            at: store.path)
    }

    @Test func valuesOfAnotherType() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let cases: [(String, String)] = [
            ("id=one", "Specimen.id is int64: \"one\" is not an integer from"), ("id=", "\"\" is not an integer"),
            ("id=null", "\"null\" is not an integer"), ("small=128", "an integer from -128 to 127"),
            ("large=-1", "an integer from 0 to 18446744073709551615"), ("ratio=1e99", "a number up to"),
            ("score=high", "Specimen.score is double?: \"high\" is not a number"), ("score<null", "only = and !="),
            ("flag=yes", "true or false"), ("made=yesterday", "a date such as"), ("made=2023-02-29", "a date such as"),
            ("made=2024-05-31T25:00Z", "a date such as"), ("key=1234", "a UUID such as"),
            ("blob=abc", "hexadecimal"), ("blob=xy", "hexadecimal"),
            ("marks=a", "is [int64?]: \"a\" is not an integer"),
            ("tags<red", "only = and !="), ("tags^=red", "only = and !="), ("id^=1", "for text only"),
        ]
        for (condition, part) in cases {
            try await expectFailure(
                ["query", store.path, "Specimen", "--where", condition], 2, saying: part, at: store.path)
        }
        try await expectFailure(
            ["query", store.path, "Specimen", "--sort", "tags"], 2, saying: "Specimen.tags is [string]: arrays have no",
            at: store.path)
    }

    /// Not even LMDB's lock file comes to be for a question that has no answer.
    @Test func aMistakeDoesNotMakeALockFile() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        try FileManager.default.removeItem(at: store.url.appendingPathComponent("lock.mdb"))
        try await expectFailure(["query", store.path, "Beast"], 2, saying: "no type", at: store.path)
        let run = try await Tool.run("query", store.path, "Keeper")
        #expect(run.status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: store.path)
        #expect(Set(names) == ["data.mdb", "lock.mdb"])
    }

    // MARK: Files

    private func expectUnreadable(
        _ path: String, saying part: String, location: SourceLocation = #_sourceLocation
    ) async throws {
        for arguments in [["info", path], ["query", path, "Specimen"], ["info", path, "--json"]] {
            try await expectFailure(arguments, 1, saying: part, path, at: path, location: location)
        }
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roost-bad-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test func whatIsNotAStore() async throws {
        try await withFolder { folder in
            try await expectUnreadable(folder.appendingPathComponent("missing").path, saying: "There is no store")
            try await expectUnreadable(folder.path, saying: "it has no data.mdb")
            let file = folder.appendingPathComponent("file")
            try Data("text".utf8).write(to: file)
            try await expectUnreadable(file.path, saying: "a store is a directory")
            let data = folder.appendingPathComponent("data.mdb")
            for bytes in [Data(), Data("not a database".utf8), Data(repeating: 7, count: 100_000)] {
                try bytes.write(to: data)
                try await expectUnreadable(folder.path, saying: "its data file is empty or of another kind")
            }
        }
    }

    @Test func anLMDBFileOfAnotherProgram() async throws {
        try await withFolder { folder in
            for (keys, part) in [
                ([], "its file is empty"), ([[1, 2, 3]], "an LMDB file of another program"),
                ([Array("!Roost".utf8)], "is not a Roost store"),
            ] as [([[UInt8]], String)] {
                let place = folder.appendingPathComponent("foreign-\(keys)-\(part.count)")
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                try Self.makeForeignFile(in: place.path, keys: keys)
                try FileManager.default.removeItem(at: place.appendingPathComponent("lock.mdb"))
                try await expectUnreadable(place.path, saying: part)
                #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["data.mdb"])
            }
        }
    }

    private static func makeForeignFile(in directory: String, keys: [[UInt8]]) throws {
        let environment = try Environment.open(
            directory: directory, options: Environment.Options(), inspect: {}, prepare: { $0 })
        defer { Environment.close(environment) }
        try environment.write { transaction in
            guard let database = try environment.openDatabases([(nil, .housekeeping)], in: transaction)[0] else {
                return
            }
            for key in keys {
                try key.withUnsafeBytes { _ = try transaction.put(database, key: $0, value: $0) }
            }
        }
    }

    /// Turns one byte around at `offset` behind every place where `pattern` stands.
    private static func damage(_ file: URL, at offset: Int, behind pattern: String) throws {
        var bytes = try Data(contentsOf: file)
        var start = bytes.startIndex
        var count = 0
        while let range = bytes.range(of: Data(pattern.utf8), in: start..<bytes.endIndex) {
            bytes[range.upperBound + offset] ^= 0xFF
            start = range.upperBound
            count += 1
        }
        #expect(count > 0)
        try bytes.write(to: file)
    }

    @Test func aDamagedHeader() async throws {
        for (offset, part) in [(12, "its checksum is wrong"), (-2, "is not a Roost store")] {
            let store = try SpecimenStore()
            defer { store.remove() }
            try Self.damage(store.url.appendingPathComponent("data.mdb"), at: offset, behind: "RoostDB\n")
            try await expectUnreadable(store.path, saying: part)
        }
    }

    @Test func aDamagedCatalog() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        try Self.damage(store.url.appendingPathComponent("data.mdb"), at: 3, behind: "\"entities\":")
        try await expectUnreadable(store.path, saying: "catalog is damaged: its checksum is wrong")
    }

    @Test func aFileThatIsCutOff() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let file = store.url.appendingPathComponent("data.mdb")
        try Data(contentsOf: file).prefix(9_000).write(to: file)
        try await expectUnreadable(store.path, saying: "the file ends at byte 9000")
    }

    /// LMDB reads where a page's entries point to, which is behind the end of the file here.
    @Test func aDamagedPageWasASignal() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let file = store.url.appendingPathComponent("data.mdb")
        var bytes = try Data(contentsOf: file)
        let record = try #require(bytes.range(of: Data("bobBob".utf8)))
        let page = record.lowerBound / 4_096 * 4_096
        // Behind the page's head of 16 bytes: the places of its two entries.
        for offset in 16..<20 { bytes[page + offset] = 0xFF }
        try bytes.write(to: file)
        for format in [[], ["--json"], ["--where", "id=bob"], ["--sort", "name"]] {
            let run = try await Tool.run(["query", store.path, "Keeper"] + format)
            #expect(run.status == 1, "\(run.status) \(run.errors)")
            #expect(run.errors.hasPrefix("roost: ") && run.errors.hasSuffix(" [damaged]\n"), "\(run.errors)")
        }
    }

    @Test func aDamagedRecordIsNamed() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        // The name of keeper bob, as it stands in its record, becomes a byte that no text holds.
        var bytes = try Data(contentsOf: store.url.appendingPathComponent("data.mdb"))
        let range = try #require(bytes.range(of: Data("bobBob".utf8)))
        bytes[range.lowerBound + 4] = 0xFF
        try bytes.write(to: store.url.appendingPathComponent("data.mdb"))
        for format in [[], ["--json"]] {
            let run = try await Tool.run(["query", store.path, "Keeper"] + format)
            #expect(run.status == 1)
            #expect(run.errors.hasPrefix("roost: The record of Keeper bob, field name cannot be read: a text is not"))
        }
    }
}
