// SPDX-License-Identifier: Apache-2.0

import Testing

/// What `@Entity` says about the structs it cannot turn into entities.
@Suite struct MacroDiagnosticsTests {
    /// One run of the compiler over all the fixtures, shared by the tests, since starting it costs more than they do.
    private static let output = Task {
        let compiler = try await Compiler()
        defer { compiler.removeFolder() }
        let files = Fixture.all.map { ($0.fileName, "import Roost; " + $0.source) }
        return try await compiler.check(Dictionary(files) { first, _ in first })
    }

    @Test(arguments: Fixture.all)
    func messages(_ fixture: Fixture) async throws {
        let output = try await Self.output.value
        #expect(fixture.messages(in: output) == fixture.expectedMessages)
    }

    /// A message in generated code, or about a file that is no fixture, would go unseen by the other test.
    @Test func nothingElseIsReported() async throws {
        let output = try await Self.output.value
        let reported = output.split(separator: "\n").filter { $0.contains(": error:") || $0.contains(": warning:") }
        let ofFixtures = Fixture.all.flatMap { $0.messages(in: output) }
            .filter { $0.contains(": error:") || $0.contains(": warning:") }
        #expect(reported.count == ofFixtures.count, "\(output)")
    }

    @Test func fixturesHaveNamesOfTheirOwn() {
        #expect(Set(Fixture.all.map(\.fileName)).count == Fixture.all.count)
    }
}
