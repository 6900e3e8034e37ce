// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

/// What a table shows of values that are long, many or not to be seen.
@Suite struct TableTests {
    private func withKeepers(
        _ keepers: some Sequence<Keeper> & Sendable, _ body: (URL) async throws -> Void
    ) async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("table-\(UUID().uuidString).roost")
        defer { try? FileManager.default.removeItem(at: url) }
        let store = try await Store.open(at: url, entities: Keeper.self)
        try await store.write { tx in try tx.insert(contentsOf: keepers) }
        try store.close()
        try await body(url)
    }

    @Test func marksOfDirectionWerePrintedRaw() async throws {
        let hidden: [Unicode.Scalar] =
            (0x202A...0x202E).compactMap(Unicode.Scalar.init) + (0x2066...0x2069).compactMap(Unicode.Scalar.init) + [
                "\u{200E}", "\u{200F}", "\u{61C}", "\u{200B}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{3164}",
                "\u{E0041}", "\u{2028}", "\u{85}", "\u{9B}", "\u{7F}", "\u{1B}",
            ]
        let names = hidden.map { "a\(String($0))b" }
        let keepers = names.enumerated().map { Keeper(id: "\($0)", name: $1) }
        try await withKeepers(keepers) { url in
            let table = try await Tool.run("query", url.path, "Keeper")
            let json = try await Tool.run("query", url.path, "Keeper", "--json")
            for scalar in hidden {
                #expect(!table.output.unicodeScalars.contains(scalar), "\(scalar.value)")
                #expect(!json.output.unicodeScalars.contains(scalar), "\(scalar.value)")
                #expect(table.output.contains("a\\u{\(String(scalar.value, radix: 16))}b"))
            }
            // JSON loses nothing by it.
            let rows = try JSONDecoder().decode([Keeper].self, from: Data(json.output.utf8))
            #expect(Set(rows.map { Array($0.name.unicodeScalars) }) == Set(names.map { Array($0.unicodeScalars) }))
            // Nor is a message a way around it.
            let run = try await Tool.run("query", url.path, "a\u{202E}b")
            #expect(run.errors.contains(#"a\u{202e}b"#))
        }
    }

    @Test func whatIsSeenStaysAsItIs() async throws {
        let name = "é 語 ❤\u{FE0F} \u{600}\u{661} א"
        try await withKeepers([Keeper(id: "a", name: name)]) { url in
            let run = try await Tool.run("query", url.path, "Keeper")
            #expect(run.output.contains(name))
        }
    }

    @Test func oneLongValueMadeEveryLineAsLong() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let writer = try await Store.open(at: store.url, entities: Specimen.self)
        try await writer.write { tx in
            var specimen = SpecimenStore.specimens[0]
            for id in 100..<1_100 {
                specimen.id = id
                specimen.note = id == 600 ? String(repeating: "n", count: 200_000) : "short"
                try tx.insert(specimen)
            }
        }
        try writer.close()
        let run = try await Tool.run("query", store.path, "Specimen")
        #expect(run.status == 0)
        #expect(run.output.contains(String(repeating: "n", count: 200_000)))
        // It was 200 MB.
        #expect(run.output.utf8.count < 1_000_000)
        let shown = try await Tool.onTerminal("query", store.path, "Specimen", "--where", "id=600")
        #expect(shown.contains(String(repeating: "n", count: 39) + "…"))
        #expect(!shown.contains(String(repeating: "n", count: 40)))
    }

    @Test func aCharacterOfManyMarksIsCutOnATerminal() async throws {
        let name = "a" + String(repeating: "\u{301}", count: 1_000)
        try await withKeepers([Keeper(id: "a", name: name)]) { url in
            let shown = try await Tool.onTerminal("query", url.path, "Keeper")
            #expect(shown.contains("…") && shown.unicodeScalars.count < 600)
        }
    }

    @Test func rowsWaitedForTheLastOne() async throws {
        let keepers = (1_000..<4_000).map { Keeper(id: "k\($0)", name: $0 == 3_999 ? "broken" : "well") }
        try await withKeepers(keepers) { url in
            let file = url.appendingPathComponent("data.mdb")
            var bytes = try Data(contentsOf: file)
            let range = try #require(bytes.range(of: Data("broken".utf8)))
            bytes[range.lowerBound] = 0xFF
            try bytes.write(to: file)
            let run = try await Tool.run("query", url.path, "Keeper")
            #expect(run.status == 1)
            #expect(run.lines.prefix(3) == ["id     name", "-----  ----", "k1000  well"])
            #expect(run.output.contains("k3998  well\n"))
        }
    }

    @Test func aRowBehindTheFirstOnesRunsOver() async throws {
        let keepers = (1_000..<3_000).map { Keeper(id: $0 == 2_500 ? "k2500-longer" : "k\($0)", name: "n") }
        try await withKeepers(keepers) { url in
            let run = try await Tool.run("query", url.path, "Keeper")
            #expect(run.lines.contains("k2500-longer  n") && run.lines.contains("k2501  n"))
            #expect(run.lines.suffix(2) == ["(2000 objects)", ""])
        }
    }

    /// Every spelling of a date and of a number that is printed finds its object.
    @Test func whatIsPrintedCanBeGivenBack() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let writer = try await Store.open(at: store.url, entities: Specimen.self)
        let dates: [Double] = [
            .leastNormalMagnitude / 4, 1e15, .infinity, -.infinity, 0.1, -1e-9, .greatestFiniteMagnitude, -4e9,
        ]
        let numbers: [Double] = [
            -0.0, .leastNonzeroMagnitude, .infinity, -.infinity, 1e300, 0.1, -1.5e-7, .greatestFiniteMagnitude,
        ]
        try await writer.write { tx in
            for (index, (date, number)) in zip(dates, numbers).enumerated() {
                var specimen = SpecimenStore.specimens[0]
                specimen.id = 100 + index
                specimen.made = Date(timeIntervalSinceReferenceDate: date)
                specimen.score = number
                specimen.keeper = Ref("zed")
                try tx.insert(specimen)
            }
        }
        try writer.close()
        let run = try await Tool.run("query", store.path, "Specimen", "--where", "keeper=zed", "--json")
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
        #expect(rows.count == dates.count)
        for row in rows {
            let id = try #require(row["id"] as? Int)
            let table = try await Tool.run("query", store.path, "Specimen", "--where", "id=\(id)")
            let columns = try #require(table.lines.dropFirst(2).first).split(separator: " ").map(String.init)
            let date = try #require(columns.first { $0.hasPrefix("@") || $0.hasSuffix("Z") })
            #expect(try await store.ids("--where", "made=\(date)", "--where", "keeper=zed") == [id], "\(date)")
            let number = columns[7]
            #expect(try await store.ids("--where", "score=\(number)", "--where", "keeper=zed") == [id], "\(number)")
        }
    }

    @Test func everyNaNIsSpelledNan() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let writer = try await Store.open(at: store.url, entities: Specimen.self)
        try await writer.write { tx in
            for (id, nan) in [Double.nan, -.nan, .signalingNaN, Double(nan: 1, signaling: false)].enumerated() {
                var specimen = SpecimenStore.specimens[0]
                specimen.id = 100 + id
                (specimen.score, specimen.ratio) = (nan, Float(nan))
                specimen.made = Date(timeIntervalSinceReferenceDate: nan)
                try tx.insert(specimen)
            }
        }
        try writer.close()
        let run = try await Tool.run("query", store.path, "Specimen", "--where", "id>=100", "--json")
        #expect(run.lines.filter { $0.contains(#""ratio":"nan","score":"nan","made":"@nan","#) }.count == 4)
        let table = try await Tool.run("query", store.path, "Specimen", "--where", "id>=100")
        #expect(!table.output.contains("-nan") && !table.output.contains("nan("))
        let taken = try await Tool.run("query", store.path, "Specimen", "--where", "score=-nan", "--where", "made=@nan")
        #expect(taken.status == 0 && taken.output.hasSuffix("(0 objects)\n"))
    }

    /// An object that is Codable can be decoded from what `--json` prints.
    @Test func dataWasNoBase64() async throws {
        struct Printed: Decodable {
            let id: Int
            let large: UInt64
            let ratio: Float
            let score: Double?
            let blob: Data
            let key: UUID
            let tags: [String]
            let marks: [Int?]
        }
        let store = try SpecimenStore()
        defer { store.remove() }
        let run = try await Tool.run("query", store.path, "Specimen", "--json")
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let printed = try decoder.decode([Printed].self, from: Data(run.output.utf8))
        for (printed, specimen) in zip(printed, SpecimenStore.specimens) {
            #expect(printed.id == specimen.id && printed.blob == specimen.blob && printed.key == specimen.key)
            #expect(printed.large == specimen.large && printed.ratio == specimen.ratio)
            #expect(printed.tags == specimen.tags && printed.marks == specimen.marks)
            #expect(printed.score == specimen.score || printed.score?.isNaN == true && specimen.score?.isNaN == true)
        }
    }
}
