// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

/// Streams that are closed, full or gone: the program ends with its exit code, never by a signal, and no byte of the store
/// changes.
@Suite struct ClosedStreamTests {
    private func expect(
        _ line: String, gives status: Int32, saying part: String? = nil, location: SourceLocation = #_sourceLocation
    ) async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let data = store.url.appendingPathComponent("data.mdb")
        let before = try Data(contentsOf: data)
        let run = try await Tool.shellOutput(
            "STORE='\(store.path)'; /bin/sh -c 'exec \(line)'".replacingOccurrences(of: "STORE=", with: "export STORE=")
        )
        #expect(run.status == status, "\(line): \(run.errors)", sourceLocation: location)
        if let part { #expect(run.errors.contains(part), "\(run.errors)", sourceLocation: location) }
        #expect(try Data(contentsOf: data) == before, "the store has changed", sourceLocation: location)
    }

    @Test func aClosedStandardErrorWasATrap() async throws {
        try await expect(#""$ROOST" info "$STORE/missing" 2>&-"#, gives: 1)
        try await expect(#""$ROOST" look 2>&-"#, gives: 2)
        try await expect(#""$ROOST" query "$STORE" Beast 2>&-"#, gives: 2)
        try await expect(#""$ROOST" info "$STORE" 2>&-"#, gives: 0)
        // The explanation was asked for, and nobody gets it.
        try await expect(#""$ROOST" query "$STORE" Keeper --json --explain 2>&-"#, gives: 1)
    }

    @Test func aClosedStandardOutputIsReported() async throws {
        let part = "roost: cannot write the output: Bad file descriptor"
        for command in [#"info "$STORE""#, #"query "$STORE" Specimen --json"#, "--help", "--version"] {
            try await expect(#""$ROOST" \#(command) >&-"#, gives: 1, saying: part)
            try await expect(#""$ROOST" \#(command) <&- >&-"#, gives: 1, saying: part)
        }
    }

    @Test func allStreamsAreClosed() async throws {
        try await expect(#""$ROOST" info "$STORE" <&- >&- 2>&-"#, gives: 1)
        try await expect(#""$ROOST" query "$STORE" Specimen <&- >&- 2>&-"#, gives: 1)
        try await expect(#""$ROOST" query "$STORE" Beast <&- >&- 2>&-"#, gives: 2)
        try await expect(#""$ROOST" <&- >&- 2>&-"#, gives: 2)
    }

    @Test func aFullStandardErrorWasATrap() async throws {
        guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
        try await expect(#""$ROOST" look 2>/dev/full"#, gives: 2)
        try await expect(#""$ROOST" info "$STORE/missing" 2>/dev/full"#, gives: 1)
        try await expect(#""$ROOST" query "$STORE" Keeper --json --explain 2>/dev/full"#, gives: 1)
        try await expect(#""$ROOST" info "$STORE" >/dev/full"#, gives: 1, saying: "No space left on device")
    }

    @Test func aFilesSizeLimitIsReported() async throws {
        try await expect(
            #"sh -c "ulimit -f 1; exec \"\$ROOST\" query --help >\"$STORE.limited\"" "#, gives: 1,
            saying: "cannot write the output: File too large")
    }

    /// The other end of a pipe may have made it a non-blocking one.
    @Test func aNonBlockingPipeWasAFailure() async throws {
        let store = try SpecimenStore()
        defer { store.remove() }
        let text = String(repeating: "x", count: 100_000)
        let writer = try await Store.open(at: store.url, entities: Keeper.self)
        try await writer.write { tx in
            for number in 0..<20 { try tx.insert(Keeper(id: "k\(number)", name: text)) }
        }
        try writer.close()
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        #expect(fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0)
        let output = Task.detached { pipe.fileHandleForReading.readDataToEndOfFile() }
        let status = try await Tool.run(
            Tool.executable(), ["query", store.path, "Keeper", "--json"], output: pipe.fileHandleForWriting,
            errors: .nullDevice)
        try pipe.fileHandleForWriting.close()
        #expect(status == 0)
        #expect(await output.value.count > 2_000_000)
    }
}
