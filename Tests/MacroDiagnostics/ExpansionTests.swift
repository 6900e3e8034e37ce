// SPDX-License-Identifier: Apache-2.0

import Testing

/// The code `@Entity` generates, to the letter.
@Suite struct ExpansionTests {
    @Test func expansionOfAStructWithAllKindsOfProperties() async throws {
        let compiler = try await Compiler()
        defer { compiler.removeFolder() }
        let output = try await compiler.check(["City.swift": Self.source], dumpingExpansions: true)
        #expect(Self.expansions(in: output) == [Self.expectedCity, Self.expectedCapital])
        #expect(!output.contains("error:"), "\(output)")
        #expect(!output.contains("warning:"), "\(output)")
    }

    /// The code between the lines of dashes that the compiler prints around each expansion.
    private static func expansions(in output: String) -> [String] {
        var expansions: [String] = []
        var lines: [Substring]?
        for line in output.split(separator: "\n", omittingEmptySubsequences: false) {
            let isRule = line.count > 10 && line.allSatisfy { $0 == "-" }
            if isRule, let finished = lines {
                expansions.append(finished.joined(separator: "\n"))
                lines = nil
            } else if isRule {
                lines = []
            } else {
                lines?.append(line)
            }
        }
        return expansions
    }

    private static let source = #"""
        import Roost

        struct Country: Sendable {}

        @Entity struct City: Codable {
            var name: String
            static let indexes: [Index<City>] = []
            private(set) var id: Int
            let country: String?
            var `class` = "town", x, y: Double
            var height = -1.5 { didSet { print(oldValue) } }
            private var alternateNames: [String] = []
            var computed: Int { 1 }
            init(from decoder: any Decoder) throws {
                id = 0
                name = ""
                country = nil
                x = 0
                y = 0
            }
        }

        public enum Atlas {
            @Entity public struct Capital {
                public let id: String
                var of: Ref<Country>
                var encoder: Optional<Bool>
                var status: Optional<Atlas.Status>
                var kinds: [Atlas.Status]
            }
            public enum Status: String { case free, occupied }
        }

        func bothInitializers(json: any Decoder, record: inout RecordDecoder) throws -> [City] {
            [try City(from: json), try City(from: &record)]
        }
        """#

    private static let expectedCity = #"""
        extension City: Roost.Entity {
            static var entityName: String { "City" }
            static var fields: [Roost.Field<City>] {
                [Roost.Field("id", \City.id), Roost.Field("name", \City.name), \#
        Roost.Field("country", \City.country), Roost.Field("class", \City.`class`), \#
        Roost.Field("x", \City.x), Roost.Field("y", \City.y), Roost.Field("height", \City.height), \#
        Roost.Field("alternateNames", \City.alternateNames)]
            }
            @inline(__always) static var recordShape: Roost.RecordShape {
                Roost.RecordShape(fieldCount: 8).id((Int).self).field((String).self).field((String?).self)\#
        .field((String).self).field((Double).self).field((Double).self).field((Double).self).field(([String]).self)
            }
            @inline(__always) func encode(to encoder: inout Roost.RecordEncoder) {
                encoder.encodeID(id)
                encoder.encode(name)
                encoder.encode(country)
                encoder.encode(`class`)
                encoder.encode(x)
                encoder.encode(y)
                encoder.encode(height)
                encoder.encode(alternateNames)
            }
            @inline(__always) init(from decoder: inout Roost.RecordDecoder) throws(Roost.RecordFailure) {
                let value0 = try decoder.decodeID((Int).self)
                let value1 = try decoder.decode((String).self)
                let value2 = try decoder.decode((String?).self)
                let value3 = try decoder.decode((String).self)
                let value4 = try decoder.decode((Double).self)
                let value5 = try decoder.decode((Double).self)
                let value6 = try decoder.decode((Double).self)
                let value7 = try decoder.decode(([String]).self)
                self.id = value0
                self.name = value1
                self.country = value2
                self.`class` = value3
                self.x = value4
                self.y = value5
                self.height = value6
                self.alternateNames = value7
            }
        }
        """#

    private static let expectedCapital = #"""
        extension Atlas.Capital: Roost.Entity {
            public static var entityName: String { "Capital" }
            public static var fields: [Roost.Field<Atlas.Capital>] {
                [Roost.Field("id", \Atlas.Capital.id), Roost.Field("of", \Atlas.Capital.of), \#
        Roost.Field("encoder", \Atlas.Capital.encoder), \#
        Roost.Field("status", \Atlas.Capital.status, Roost.RawValuePath<Optional<Atlas.Status>>().rawValue), \#
        Roost.Field("kinds", \Atlas.Capital.kinds)]
            }
            @inline(__always) public static var recordShape: Roost.RecordShape {
                Roost.RecordShape(fieldCount: 5).id((String).self).field((Ref<Country>).self)\#
        .field((Optional<Bool>).self).field((Optional<Atlas.Status>).self).field(([Atlas.Status]).self)
            }
            @inline(__always) public func encode(to encoder: inout Roost.RecordEncoder) {
                encoder.encodeID(id)
                encoder.encode(of)
                encoder.encode(self.encoder)
                encoder.encode(status)
                encoder.encode(kinds)
            }
            @inline(__always) public init(from decoder: inout Roost.RecordDecoder) throws(Roost.RecordFailure) {
                let value0 = try decoder.decodeID((String).self)
                let value1 = try decoder.decode((Ref<Country>).self)
                let value2 = try decoder.decode((Optional<Bool>).self)
                let value3 = try decoder.decode((Optional<Atlas.Status>).self)
                let value4 = try decoder.decode(([Atlas.Status]).self)
                self.id = value0
                self.of = value1
                self.encoder = value2
                self.status = value3
                self.kinds = value4
            }
        }
        """#
}
